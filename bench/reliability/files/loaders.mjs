// Who reads files, and what each answers. A loader has
//
//   weight           its share of the files
//   text             whether it reads text
//   sources          valid files, as buffers, each with the answer that it must give
//   load(path, n)    the answer to source n's mutation, as a text. @throws what `refusal` takes for a clean refusal
//   sealed           checksums cover everything: what is accepted without having been mended must answer as the source does
//   check(answer)    for other files: what is wrong with an answer, or undefined
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ComputeSettingsCache } from '../../../dist/lib/devices/settings-cache.js';
import { loadConfig } from '../../../dist/src/config/load.js';
import { StartupError } from '../../../dist/src/config/startup-error.js';
import { Catalog } from '../../../dist/src/models/catalog.js';
import { ServerError } from '../../../dist/src/protocol/errors.js';
import { root } from '../../harness/cache.mjs';
import {
  EmbeddingModel,
  inspectFile,
  LorekeepError,
  openKnowledgeBase,
  TextIndex,
  VectorIndex,
} from '../../lorekeep.mjs';
import { answersOf, configs, modelName } from '../sample.mjs';
import { languageModelLoaders } from './language-models.mjs';
import { defaultLists } from './lists.mjs';
import { speechLoaders } from './speech-models.mjs';

const compat = join(root, 'test', 'compat');
const clean = [
  'CORRUPT',
  'UNSUPPORTED',
  'INVALID_ARGUMENT',
  'DIMENSION_MISMATCH',
  'MODEL_INVALID',
  'NOT_FOUND',
  'TEXT_TOO_LONG',
];

const serverConfig = {
  port: 9100,
  network_access: 'local',
  thread_count: 4,
  models_catalog_path: 'models.json',
  logs_dir: 'logs',
  log_level: 'info',
  storage_root: '.',
  telemetry: { enabled: false, sinks: [] },
  engines: { llm_engine: { backend: 'cpu', n_threads: 2, embedding: { default_n_ctx: 512 } } },
  limits: { frame_timeout_ms: 1000 },
};

/** Whether an error is what a loader may refuse a file with. */
export function refusal(error) {
  if (error instanceof LorekeepError) return clean.includes(error.code);
  return error instanceof StartupError || (error instanceof ServerError && error.code !== 1009);
}

/** @param sample a built one, whose folder is this process's own; only: the name of the loader that will load */
export async function loadersFor(sample, only) {
  const made = [
    await vectorIndexes(sample),
    await textIndexes(sample),
    await ofKnowledgeBase(sample, 'kb.index', 'kb.json'),
    await sidecar(sample),
    await embeddings(sample),
    await records(sample),
    await knowledgeBaseConfig(sample),
    ...startup(sample),
    settingsCache(),
    ...defaultLists(sample),
    await model(sample),
  ];
  for (const { name, weight, make } of languageModelLoaders(sample)) {
    const { bytes, ...loader } = name === only ? await make() : {};
    const whole = { name, weight, ...loader };
    made.push(bytes === undefined ? whole : await withAnswers(whole, [bytes], sample.at('mutated')));
  }
  for (const { name, weight, make } of speechLoaders()) {
    const { files, ...loader } = name === only ? make() : {};
    const whole = { name, weight, ...loader };
    made.push(files === undefined ? whole : await withAnswers(whole, files, sample.at('mutated')));
  }
  return made;
}

async function withAnswers(loader, buffers, at) {
  loader.sources = [];
  for (const bytes of buffers) {
    writeFileSync(at, bytes);
    loader.sources.push({ bytes, answer: undefined });
    loader.sources.at(-1).answer = await loader.load(at, loader.sources.length - 1);
  }
  return loader;
}

const compatFiles = (ending) =>
  readdirSync(compat)
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(compat, name)));

async function vectorIndexes(sample) {
  const load = async (path) => {
    await inspectFile(path);
    const index = await VectorIndex.load(path);
    try {
      const query = Float32Array.from({ length: index.dimension }, (_, i) => Math.sin(i + 1));
      const { ordinals, distances } = await index.search(query, { k: 5 });
      return JSON.stringify([index.size, [...ordinals], [...distances]]);
    } finally {
      await index.close();
    }
  };
  const small = compatFiles('.index').filter(({ length }) => length < 50_000);
  const loader = { name: 'index, versions 1 to 5', weight: 45, sealed: true, load, check: saneIndex };
  return withAnswers(loader, [...small, readFileSync(sample.at('kb.index'))], sample.at('mutated'));
}

function saneIndex(answer) {
  const [size, ordinals, distances] = JSON.parse(answer);
  if (ordinals.some((ordinal) => ordinal >= size)) return 'an ordinal beyond the index';
  if (distances.some((distance) => !(distance >= 0 && distance <= 2))) return 'a distance beyond 0 to 2';
}

async function textIndexes(sample) {
  const load = async (path) => {
    await inspectFile(path);
    const index = await TextIndex.load(path);
    try {
      const { ordinals, scores } = await index.search(`night ${sample.questions[0]}`, { k: 5 });
      return JSON.stringify([index.size, [...ordinals], [...scores]]);
    } finally {
      await index.close();
    }
  };
  const check = (answer) => {
    const [, , scores] = JSON.parse(answer);
    return scores.some((score) => !(score > 0)) ? 'a score that is not above 0' : undefined;
  };
  const files = [...compatFiles('.bm25'), readFileSync(sample.at('kb.bm25'))];
  return withAnswers(
    { name: 'text index', weight: 35, sealed: true, load, check },
    files,
    sample.at('mutated'),
  );
}

/** Opens a knowledge base and asks it everything. */
async function answer(sample, config) {
  const opened = await openKnowledgeBase(sample.at(config), { models: sample.models });
  try {
    return await answersOf(opened, sample.questions);
  } finally {
    await opened.close();
  }
}

const saneAnswers = (text) => {
  const [size, ...lists] = JSON.parse(text);
  return size > 0 && lists.every((hits) => hits.every(([, , score]) => Number.isFinite(score)))
    ? undefined
    : 'an answer without sense';
};

/** A file of a knowledge base in which checksums cover everything. */
async function ofKnowledgeBase(sample, file, config, extra = {}) {
  const load = () => answer(sample, config);
  const loader = {
    name: `${file} of a knowledge base`,
    file,
    weight: 2,
    sealed: true,
    load,
    check: saneAnswers,
    ...extra,
  };
  return withAnswers(loader, [readFileSync(sample.at(file))], sample.at(file));
}

/** Damaged files of these kinds are made again; a refusal is wrong, too. */
const sidecar = (sample) =>
  ofKnowledgeBase(sample, 'plain.bm25', 'plain.json', { name: 'bm25_file, made again', never: true });

async function embeddings(sample) {
  const { index_file: _, ...config } = configs['kb.json'];
  sample.writeJson('embedded.json', { embedding_model: modelName, ...config });
  return ofKnowledgeBase(sample, 'kb.embeddings', 'embedded.json', {
    name: 'embeddings_file, made again',
    never: true,
  });
}

async function records(sample) {
  const path = sample.at('r.json');
  sample.writeJson('r-kb.json', {
    embedding_model: modelName,
    ...configs['plain.json'],
    records_file: 'r.json',
    bm25_file: undefined,
  });
  const loader = {
    name: 'records',
    file: 'r.json',
    weight: 5,
    text: true,
    load: () => answer(sample, 'r-kb.json'),
    /** Every hit is a record of the file, as JSON.parse reads it. */
    check(text) {
      const [size, ...lists] = JSON.parse(text);
      const parsed = JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''));
      if (parsed.length !== size) return `${size} records, and JSON.parse reads ${parsed.length}`;
      const byId = new Map(parsed.map((record) => [record.id, record.text]));
      return lists.flat().every(([id, hit]) => byId.get(id) === hit)
        ? undefined
        : 'a hit that is no record of the file';
    },
  };
  const few = JSON.stringify(sample.records.slice(0, 12), undefined, 1);
  return withAnswers(loader, [few, JSON.stringify(sample.records.slice(0, 3))].map(Buffer.from), path);
}

async function knowledgeBaseConfig(sample) {
  const texts = new Map(sample.records.map(({ id, text }) => [id, text]));
  const loader = {
    name: 'knowledge base config',
    file: 'mutated-kb.json',
    weight: 2,
    text: true,
    load: () => answer(sample, 'mutated-kb.json'),
    check(text) {
      const [size, ...lists] = JSON.parse(text);
      if (size !== sample.records.length) return `${size} records`;
      return lists.flat().every(([id, hit]) => texts.get(id) === hit) ? undefined : 'a hit that is no record';
    },
  };
  const config = { version: 1, embedding_model: modelName, ...configs['kb.json'] };
  const plain = {
    embedding_model: modelName,
    ...configs['plain.json'],
    bm25_tokenizer: 'enhanced',
    bm25_file: 'own.bm25',
  };
  const buffers = [config, plain].map((value) => Buffer.from(JSON.stringify(value, undefined, 1)));
  return withAnswers(loader, buffers, sample.at('mutated-kb.json'));
}

function startup(sample) {
  const catalog = {
    name: 'catalog',
    weight: 4,
    text: true,
    sources: [
      { bytes: readFileSync(sample.at('models.json')) },
      { bytes: readFileSync(join(root, 'data', 'models.json')) },
    ],
    load: async (path) => JSON.stringify((await Catalog.load(path)).entries),
    check: (text) =>
      JSON.parse(text).every(({ name }) => name !== '') ? undefined : 'a model without a name',
  };
  const config = {
    name: 'server config',
    weight: 4,
    text: true,
    sources: [{ bytes: Buffer.from(JSON.stringify(serverConfig, undefined, 1)) }],
    load: async (path) => JSON.stringify((await loadConfig({ '--config': path }, {})).config),
    check: (text) => (JSON.parse(text).thread_count >= 0 ? undefined : 'no thread_count'),
  };
  return [catalog, config];
}

function settingsCache() {
  const entry = {
    fingerprint: 'f',
    name: 'n',
    path: 'p',
    candidates: ['a', 'b'],
    runtime: 'a',
    batchTokens: 64,
  };
  const own = { ...entry, processor: 'this', version: '1' };
  return {
    name: 'settings cache',
    weight: 3,
    text: true,
    never: true,
    sources: [
      { bytes: Buffer.from(JSON.stringify({ entries: [own, { ...own, fingerprint: 'g' }] }, undefined, 1)) },
    ],
    load: async (path) => JSON.stringify(await new ComputeSettingsCache(path, 'this', '1').read()),
    check(text) {
      const right = ({ runtime, batchTokens }) =>
        typeof runtime === 'string' && batchTokens > 0 && batchTokens <= 512;
      return JSON.parse(text).every(right) ? undefined : 'an entry that is none';
    },
  };
}

async function model(sample) {
  const load = async (path) => {
    const loaded = await EmbeddingModel.load(path, { threads: 1 });
    try {
      const vectors = await loaded.embed([sample.questions[0], 'x']);
      return JSON.stringify([loaded.dimension, [...vectors].every(Number.isFinite)]);
    } finally {
      await loaded.close();
    }
  };
  const check = (text) => (JSON.parse(text)[1] ? undefined : 'an embedding that is not finite');
  const loader = { name: 'embedding model (GGUF)', weight: 1, load, check };
  return withAnswers(loader, [readFileSync(sample.at('tiny.gguf'))], sample.at('mutated'));
}
