import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadKnowledgeBaseConfig } from '../../knowledge/config.js';
import { besideConfig, resolveFiles } from '../../knowledge/paths.js';
import { bytesText, describeIndexFile, type InspectOptions } from './binary.js';
import type { Description, Fact } from './facts.js';

/** A knowledge base: its config and the files that it names. Records are not parsed: `lorekeep check` does that. */
export async function describeKnowledgeBase(file: string, options: InspectOptions): Promise<Description> {
  const path = resolve(file);
  const { config, warnings } = await loadKnowledgeBaseConfig(path);
  const { records, index, textIndex, embeddings } = await resolveFiles(config, besideConfig(path));
  const fields = config.fields?.map(({ name, type }) => `${name}: ${type}`) ?? [];
  const facts: Fact[] = [
    ['kind', 'knowledge base'],
    ['version', String(config.version)],
    ['embedding model', config.embedding_model],
    ['tokenizer', config.bm25_tokenizer],
    ['fields', fields.length === 0 ? 'none' : fields.join(', ')],
    ...warnings.map((warning): Fact => ['warning', warning]),
  ];
  const files = [{ title: 'records', path: records, description: await describeRecords(records) }];
  const made = { index, 'text index': textIndex, embeddings };
  for (const [title, where] of Object.entries(made)) {
    if (where !== undefined) files.push({ title, path: where, description: await orAbsent(where, options) });
  }
  if (index === undefined) facts.push(['index', 'none: built each time it is opened']);
  if (textIndex === undefined) facts.push(['text index', 'none: built each time it is opened']);
  const problems = files.flatMap(({ path: where, description }) =>
    description.problems.map((problem) => `${where}: ${problem}`),
  );
  const data = {
    kind: 'knowledge base',
    config,
    warnings,
    files: files.map(({ title, path: where, description }) => ({ title, path: where, ...description.data })),
  };
  return { facts, data, problems, files };
}

async function describeRecords(path: string): Promise<Description> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return absent('absent: opening fails');
  const modified = found.mtime.toISOString();
  return {
    facts: [
      ['size', bytesText(found.size)],
      ['modified', modified],
    ],
    data: { bytes: found.size, modified },
    problems: [],
  };
}

async function orAbsent(path: string, options: InspectOptions): Promise<Description> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined
    ? absent('not built yet: lorekeep build makes it', [])
    : describeIndexFile(path, options);
}

function absent(state: string, problems = [state]): Description {
  return { facts: [['state', state]], data: { state: 'absent' }, problems };
}
