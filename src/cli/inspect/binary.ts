import { EmbeddingModel, type FileInspection, inspectFile, LorekeepError } from '../../../lib/index.js';
import { fileChecksum } from '../model-files.js';
import { count, size } from '../terminal/amounts.js';
import type { Description, Fact } from './facts.js';
import { GgufError, type GgufValue, readGgufHeader } from './gguf.js';

export interface InspectOptions {
  verify: boolean;
  signal: AbortSignal;
}

/** An index, a text index, an hnswlib file, or something unknown. */
export async function describeIndexFile(
  path: string,
  { verify, signal }: InspectOptions,
): Promise<Description> {
  const found = await inspectFile(path, { verify, signal });
  const problems = found.refusal === undefined ? [] : [found.refusal];
  const facts: Fact[] = [
    ['kind', kindText(found)],
    ['size', bytesText(found.bytes)],
    ...statedFacts(found),
    ['checksums', checksumText(found)],
    ...found.sections.map(({ id, name, offset, bytes, checksum }): Fact => {
      const state = checksum === 'right' ? '' : `, checksum ${checksum}`;
      return [
        `section ${id}`,
        `${name || 'unknown'}: ${bytesText(bytes)} from byte ${count(offset)}${state}`,
      ];
    }),
    ...problems.map((problem): Fact => ['problem', problem]),
  ];
  return { facts, data: found, problems };
}

/** Keys that other lines of the description show. */
const shownElsewhere: ReadonlySet<string> = new Set(['kind', 'bytes', 'sections', 'refusal']);

const titles: Readonly<Record<string, string>> = {
  version: 'format version',
  vectorType: 'vector type',
  efConstruction: 'ef_construction',
  recordsFileBytes: 'records file size',
  recordsFileChecksum: 'records checksum',
  textsFingerprint: 'texts fingerprint',
};

function statedFacts(found: FileInspection): Fact[] {
  return Object.entries(found).flatMap(([key, value]): Fact[] => {
    if (shownElsewhere.has(key) || (typeof value !== 'number' && typeof value !== 'string')) return [];
    const title = key === 'rows' ? rowTitles[found.kind] : titles[key];
    return [[title ?? key, typeof value === 'number' ? count(value) : value]];
  });
}

const rowTitles: Readonly<Partial<Record<FileInspection['kind'], string>>> = {
  index: 'vectors',
  'hnswlib index': 'vectors',
  'text index': 'texts',
  embeddings: 'texts',
};

function kindText({ kind }: FileInspection): string {
  return kind === 'unknown' ? 'unknown: not a file of lorekeep, hnswlib or GGUF' : kind;
}

function checksumText({ kind, sections }: FileInspection): string {
  if (sections.length === 0) return kind === 'hnswlib index' ? 'the format has none' : 'none to compare';
  const wrong = sections.filter(({ checksum }) => checksum === 'wrong').length;
  if (wrong > 0) return `wrong in ${wrong} of ${sections.length} sections`;
  if (sections.some(({ checksum }) => checksum === 'unchecked')) return 'not compared';
  return `right in all ${sections.length} sections`;
}

/** Describes a model: its header, and whether it can compute embeddings. */
export async function describeModel(
  path: string,
  { verify, signal }: InspectOptions,
  bytes: number,
): Promise<Description> {
  const problems: string[] = [];
  const facts: Fact[] = [
    ['kind', 'GGUF model'],
    ['size', bytesText(bytes)],
  ];
  const data: Record<string, unknown> = { kind: 'GGUF model', bytes };
  try {
    const { version, tensors, metadata } = await readGgufHeader(path);
    const header = headerFacts(metadata);
    Object.assign(data, { version, tensors, ...Object.fromEntries(header) });
    facts.push(['format version', String(version)], ['tensors', count(tensors)], ...header);
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    problems.push(error.message);
  }
  try {
    await using model = await EmbeddingModel.load(path, { signal });
    const { dimension, pooling, contextSize, parameters, fingerprint } = model.facts;
    Object.assign(data, { embedding: { dimension, pooling, contextSize, parameters }, fingerprint });
    facts.push([
      'embeddings',
      `${dimension} numbers, pooling ${pooling}, ${count(contextSize)} tokens of context`,
    ]);
    facts.push(['parameters', count(parameters)], ['fingerprint', fingerprint]);
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    const reason = error.message.replace(`${path}: `, '');
    facts.push(['embeddings', `not usable: ${reason}`]);
    // A model for something else is no damage, and a header that is wrong has been told.
    if (error.code === 'MODEL_INVALID' && problems.length === 0 && !hasNoEmbeddings(data))
      problems.push(reason);
  }
  if (verify) {
    const sum = await fileChecksum(path, signal);
    facts.push(['sha256', sum]);
    data.sha256 = sum;
  }
  facts.push(...problems.map((problem): Fact => ['problem', problem]));
  return { facts, data, problems };
}

/** Whether the header belongs to a model that was not made for embeddings: it does not say how to pool. */
const hasNoEmbeddings = (data: Record<string, unknown>) => data.pooling_type === undefined;

function headerFacts(metadata: ReadonlyMap<string, GgufValue>): Fact[] {
  const architecture = metadata.get('general.architecture');
  const keys: readonly (readonly [string, string])[] = [
    ['name', 'general.name'],
    ['architecture', 'general.architecture'],
    ['licence', 'general.license'],
    ['context_length', `${architecture}.context_length`],
    ['embedding_length', `${architecture}.embedding_length`],
    ['block_count', `${architecture}.block_count`],
    ['pooling_type', `${architecture}.pooling_type`],
    ['tokenizer', 'tokenizer.ggml.model'],
    ['vocabulary', 'tokenizer.ggml.tokens'],
  ];
  return keys.flatMap(([name, key]): Fact[] => {
    const value = metadata.get(key);
    if (value === undefined) return [];
    const shown = typeof value === 'object' ? value.length : value;
    return [[name, typeof shown === 'number' || typeof shown === 'bigint' ? count(shown) : String(shown)]];
  });
}

export const bytesText = (bytes: number) =>
  bytes < 1024 ? `${bytes} bytes` : `${size(bytes)} (${count(bytes)} bytes)`;
