import { basename } from 'node:path';
import {
  describeModel as describeHeader,
  EmbeddingModel,
  type FileInspection,
  inspectFile,
  LorekeepError,
} from '../../../lib/internal.js';
import { fileChecksum } from '../../base/files/checksum.js';
import { partNames } from '../../base/files/model-parts.js';
import { count, size } from '../terminal/amounts.js';
import type { Description, Fact } from './facts.js';

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
      const text = `${name || 'unknown'}: ${bytesText(bytes)} from byte ${count(offset)}${state}`;
      return checksum === 'wrong' ? [`section ${id}`, text] : [`section ${id}`, text, 'detail'];
    }),
    ...problems.map((problem): Fact => ['problem', problem]),
  ];
  return { facts, data: found, problems };
}

/** Keys that other lines of the description show. */
const shownElsewhere: ReadonlySet<string> = new Set(['kind', 'bytes', 'sections', 'refusal']);

const titles: Readonly<Record<string, string>> = {
  license: 'licence',
  contextLength: 'context_length',
  embeddingLength: 'embedding_length',
  blockCount: 'block_count',
  poolingType: 'pooling_type',
  fileType: 'file_type',
  version: 'format version',
  vectorType: 'vector type',
  efConstruction: 'ef_construction',
  recordsFileBytes: 'records file size',
  recordsFileChecksum: 'records checksum',
  textsFingerprint: 'texts fingerprint',
};

/** Keys that matter to a developer of lorekeep. */
const details: ReadonlySet<string> = new Set(['recordsFileBytes', 'recordsFileChecksum', 'textsFingerprint']);

function statedFacts(found: FileInspection): Fact[] {
  return Object.entries(found).flatMap(([key, value]): Fact[] => {
    if (shownElsewhere.has(key) || (typeof value !== 'number' && typeof value !== 'string')) return [];
    const title = key === 'rows' ? rowTitles[found.kind] : titles[key];
    const shown = typeof value === 'number' ? count(value) : value;
    return [details.has(key) ? [title ?? key, shown, 'detail'] : [title ?? key, shown]];
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
    const header = await describeHeader(path, { signal });
    Object.assign(data, header);
    const { refusals, ...stated } = header;
    facts.push(
      ...Object.entries(stated).map(([key, value]): Fact => {
        return [titles[key] ?? key, typeof value === 'number' ? count(value) : value];
      }),
    );
  } catch (error) {
    problems.push(headerProblem(error));
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
    const reason = String(error.detail.reason ?? error.message);
    facts.push(['embeddings', `not usable: ${reason}`]);
    // A model without a pooling type is for something else, which is no damage; a wrong header has been told.
    const madeForEmbeddings = data.poolingType !== undefined;
    if (error.code === 'MODEL_INVALID' && problems.length === 0 && madeForEmbeddings) problems.push(reason);
  }
  if (verify) {
    const parts = partNames(path);
    const sums: (string | null)[] = [];
    for (const [index, part] of parts.entries()) {
      const sum = await fileChecksum(part, signal).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return null;
      });
      if (sum === null) problems.push(`part ${index + 1} of ${parts.length} is missing: ${basename(part)}`);
      else facts.push([index === 0 ? 'sha256' : `sha256 of part ${index + 1}`, sum]);
      sums.push(sum);
    }
    Object.assign(data, parts.length === 1 ? { sha256: sums[0] } : { parts_sha256: sums });
  }
  facts.push(...problems.map((problem): Fact => ['problem', problem]));
  return { facts, data, problems };
}

/** Why a model's header cannot be described. @throws errors that are no defect of the file */
function headerProblem(error: unknown): string {
  if (!(error instanceof LorekeepError) || error.code !== 'MODEL_INVALID') throw error;
  return String(error.detail.reason ?? error.message);
}

export const bytesText = (bytes: number) =>
  bytes < 1024 ? `${bytes} bytes` : `${size(bytes)} (${count(bytes)} bytes)`;
