import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  describeModel,
  EmbeddingModel,
  type FileInspection,
  inspectFile,
  LorekeepError,
} from '../../../lib/internal.js';
import { fileChecksum } from '../../base/files/checksum.js';
import { modelBytes, partNames } from '../../base/files/model-parts.js';
import { quantisationOf } from '../../models/quantisation.js';
import { CommandError } from '../failure.js';
import { count } from '../terminal/amounts.js';

export interface DescribeOptions {
  /** Whether to read whole files and compare checksums. */
  verify: boolean;
  signal: AbortSignal;
}

/** The facts that a binary file states about itself, and its defects. */
export interface Description {
  facts: Record<string, unknown>;
  problems: string[];
}

/** Describes an index, a text index, an embeddings file or an hnswlib file. @throws CommandError for any other file */
export async function describeIndexFile(path: string, options: DescribeOptions): Promise<Description> {
  const { refusal, ...facts } = await inspectFile(path, options);
  if (facts.kind === 'unknown')
    throw new CommandError(
      'UNSUPPORTED',
      `${path}: is neither a JSON file nor a file of lorekeep, hnswlib or GGUF`,
    );
  const problems = [refusal, wrongChecksums(facts.sections)].filter((text) => text !== undefined);
  return { facts, problems: problems.slice(0, 1) };
}

/** Describes a GGUF model: its header, whether it can compute embeddings, and its checksums. */
export async function describeModelFile(
  path: string,
  { verify, signal }: DescribeOptions,
): Promise<Description> {
  const problems: string[] = [];
  const facts: Record<string, unknown> = { bytes: modelBytes(path) ?? (await stat(path)).size };
  try {
    const { refusals: _, ...header } = await describeModel(path, { signal });
    Object.assign(facts, header, { quantisation: quantisationOf(header.fileType) });
  } catch (error) {
    problems.push(defect(error));
  }
  try {
    await using model = await EmbeddingModel.load(path, { signal });
    const { dimension, pooling, contextSize, parameters, fingerprint } = model.facts;
    Object.assign(facts, { embedding: { dimension, pooling, contextSize, parameters }, fingerprint });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    const reason = String(error.detail.reason ?? error.message);
    facts.embedding = `not usable: ${reason}`;
    // A model without a pooling type is made for something else, which is no damage.
    const isDamage = error.code === 'MODEL_INVALID' && facts.poolingType !== undefined;
    if (isDamage && problems.length === 0) problems.push(reason);
  }
  const parts = verify ? partNames(path) : [];
  const sums: (string | null)[] = [];
  for (const [index, part] of parts.entries()) {
    const sum = await fileChecksum(part, signal).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      problems.push(`part ${index + 1} of ${parts.length} is missing: ${basename(part)}`);
      return null;
    });
    sums.push(sum);
  }
  if (parts.length === 1) facts.sha256 = sums[0];
  if (parts.length > 1) facts.parts_sha256 = sums;
  return { facts, problems };
}

/** Returns why a header cannot be read. @throws errors that are no defects of the file */
function defect(error: unknown): string {
  if (!(error instanceof LorekeepError) || error.code !== 'MODEL_INVALID') throw error;
  return String(error.detail.reason ?? error.message);
}

function wrongChecksums(sections: FileInspection['sections']): string | undefined {
  const wrong = sections.filter(({ checksum }) => checksum === 'wrong').length;
  return wrong === 0 ? undefined : `the checksum is wrong in ${wrong} of ${sections.length} sections`;
}

/** Returns a line per fact, with the name that it has in JSON. Sections are listed if `all`, else summed up. */
export function factLines({ sections, ...facts }: Record<string, unknown>, all: boolean): string[] {
  const lines = Object.entries(facts).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((one, index) => [`${name}[${index}]`, shown(one)]);
    if (typeof value !== 'object' || value === null) return [[name, shown(value)]];
    return Object.entries(value).map(([key, one]) => [`${name}.${key}`, shown(one)]);
  });
  if (Array.isArray(sections)) lines.push(...sectionLines(sections, all));
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function sectionLines(sections: FileInspection['sections'], all: boolean): [string, string][] {
  const states = [...new Set(sections.map(({ checksum }) => checksum))].join(', ');
  const summary = sections.length === 0 ? 'none' : `${states} (${sections.length} sections)`;
  const each = sections.map(({ id, name, offset, bytes, checksum }): [string, string] => [
    `section ${id}`,
    `${name || 'unknown'}: ${count(bytes)} bytes from byte ${count(offset)}, checksum ${checksum}`,
  ]);
  return [['checksums', summary], ...(all ? each : [])];
}

const shown = (value: unknown) => (typeof value === 'number' ? count(value) : String(value));
