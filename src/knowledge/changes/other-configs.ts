import { existsSync } from 'node:fs';
import { readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileIdAt, moveOver, removeStrays, temporaryName } from '../../../lib/basics.js';
import { inspectFile, removeStrayFiles, uniteEmbeddings } from '../../../lib/internal.js';
import { isWithin } from '../../base/files/within.js';
import { loadKnowledgeBaseConfig } from '../config.js';
import { ownerOf } from '../destinations.js';
import { KeptEmbeddings } from '../kept-embeddings.js';
import { embeddingsKey } from '../model.js';
import { besideConfig, type KnowledgeBaseFiles, resolveFiles } from '../paths.js';
import type { LogSource } from './base-log.js';
import { dropAllTexts } from './outdated-files.js';

/** Another config that is about the records file of a base. The files that it names have the same texts. */
interface OtherConfig {
  path: string;
  embeddingModel: string;
  files: KnowledgeBaseFiles;
}

/** The folders in which files of a base are expected: those of its config and its records file. */
export const foldersOf = ({ path, files }: Pick<LogSource, 'path' | 'files'>): Set<string> =>
  new Set([dirname(path), dirname(files.records)]);

/** Finds the other configs in the folders of a base that are about its records file. */
export async function otherConfigs(source: LogSource): Promise<OtherConfig[]> {
  const [own, records] = await Promise.all([source.path, source.files.records].map(fileIdAt));
  const found: OtherConfig[] = [];
  for (const folder of foldersOf(source)) {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (!name.endsWith('.json') || (await fileIdAt(path)) === own) continue;
      const loaded = await loadKnowledgeBaseConfig(path).catch(() => undefined);
      if (loaded === undefined) continue;
      const { config } = loaded;
      const files = await resolveFiles(config, besideConfig(path));
      if ((await fileIdAt(files.records)) !== records) continue;
      found.push({ path, embeddingModel: config.embedding_model, files });
    }
  }
  return found;
}

/** The files of a config that may have texts. */
export const textFilesOf = ({ index, textIndex, embeddings }: KnowledgeBaseFiles): string[] =>
  [index, textIndex, embeddings].filter((file) => file !== undefined);

/**
 * Removes forgotten texts from the files that other configs name within the folders of a base. Their indexes, of the records as they were,
 * lose all texts: the next opening builds them again. @throws IO, CANCELLED, system errors
 */
export async function dropFromOthers(source: LogSource, texts: readonly string[]): Promise<void> {
  const folders = await Promise.all([...foldersOf(source)].map((folder) => realpath(folder)));
  for (const other of await otherConfigs(source)) {
    const { path, files } = other;
    await (await KeptEmbeddings.of({ ...source, path, files }))?.forget(texts);
    for (const file of textFilesOf(files)) {
      if (!existsSync(file)) continue;
      const real = await realpath(file);
      if (folders.some((folder) => isWithin(real, folder))) await dropFrom(real, other, source, texts);
    }
  }
}

async function dropFrom(
  file: string,
  { path, embeddingModel, files }: OtherConfig,
  { model, config, signal }: LogSource,
  dropped: readonly string[],
): Promise<void> {
  await removeStrays(file);
  await removeStrayFiles(file);
  const facts = await inspectFile(file, { verify: false, signal });
  const owner = ownerOf({ path, files });
  if (facts.kind !== 'embeddings') return dropAllTexts(file, facts, { owner, signal });
  const next = temporaryName(file);
  const isSame = embeddingModel === config.embedding_model;
  const of = { dimension: facts.dimension ?? 0, key: embeddingsKey(model) };
  const rows = isSame ? await uniteEmbeddings(next, { files: [file], dropped }, of, { owner, signal }) : 0;
  if (rows > 0) await moveOver(next, file);
  else await rm(file, { force: true });
}
