import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder, readRegular } from '../../../lib/basics.js';
import { fileSizes } from '../../../lib/internal.js';
import { createEmptyBase, writeNew } from '../../knowledge/changes/empty-base.js';
import { plainFiles } from '../../knowledge/paths.js';
import { resolveSource } from '../../knowledge/resolve.js';
import { storedDimension } from '../../knowledge/stored-dimension.js';
import type { CatalogModel } from '../../models/catalog-models.js';
import { memoryScopes } from '../../protocol/memories.js';
import { memoryFields } from './fields.js';
import { type MemorySecret, secretDigest } from './secret.js';

const identityName = 'memory.json';
const configName = 'kb.json';
const recordsName = 'records.json';

/** Folders of memories are the server's alone. */
const ownerOnly = 0o700;

const largestIdentity = 64 * 1024;

/** What the server knows of a memory. */
const identitySchema = z.object({
  kind: z.literal('lorekeep memory'),
  version: z.literal(1),
  scope: z.enum(memoryScopes),
  name: z.string().optional(),
  embedding_model: z.string(),
  secret_sha256: z.string(),
});

export type MemoryIdentity = z.output<typeof identitySchema>;

export type MemoryWish = Pick<MemoryIdentity, 'scope' | 'name' | 'embedding_model'>;

/** Path of the config of a memory's knowledge base. */
export const memoryConfig = (root: string, id: string): string => join(root, id, configName);

/** Path of its records file. */
export const memoryRecords = (root: string, id: string): string => join(root, id, recordsName);

/** Returns the dimension of the vectors of a memory; undefined if it has none. @throws errors of its config */
export async function memoryDimension(root: string, id: string): Promise<number | undefined> {
  const { files } = await resolveSource(plainFiles(memoryConfig(root, id)));
  return storedDimension(files);
}

/**
 * Makes the folder of a memory: a knowledge base without records and, at last, its identity, without which the folder is none.
 * @throws system errors, IO
 */
export async function createMemoryFolder(
  root: string,
  secret: MemorySecret,
  wish: MemoryWish,
  model: CatalogModel,
): Promise<void> {
  if ((await stat(root).catch(() => undefined)) === undefined) makeFolder(root, ownerOnly);
  const folder = join(root, secret.id);
  await mkdir(folder, ownerOnly);
  const config = {
    version: 1,
    embedding_model: wish.embedding_model,
    records_file: recordsName,
    index_file: 'records.index',
    fields: memoryFields.map((field) => ({ filterable: true, ...field })),
  } as const;
  await createEmptyBase(join(folder, configName), config as never, model);
  const identity: MemoryIdentity = {
    kind: 'lorekeep memory',
    version: 1,
    ...wish,
    secret_sha256: secretDigest(secret),
  };
  await writeNew(join(folder, identityName), `${JSON.stringify(identity, undefined, 2)}\n`);
}

/** Returns undefined unless there is such a memory. */
export async function readIdentity(root: string, id: string): Promise<MemoryIdentity | undefined> {
  try {
    const text = await readRegular(join(root, id, identityName), largestIdentity);
    return identitySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Removes a memory that nobody knows the secret of. @throws system errors */
export const removeMemoryFolder = (root: string, id: string): Promise<void> =>
  rm(join(root, id), { recursive: true, force: true });

/** A file takes at least one block of the disk. */
const blockBytes = 4096;

/** Bytes of a new memory: its files, one block each. */
export const emptyMemoryBytes = 4 * blockBytes;

/** Bytes on disk of a memory: of every file in its folder, whole blocks. */
export async function folderBytes(root: string, id: string): Promise<number> {
  const sizes = await fileSizes([], join(root, id));
  return sizes.reduce((sum, size) => sum + Math.ceil(size / blockBytes) * blockBytes, 0);
}

/** Ids of the folders of memories. */
export async function memoryIds(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  return names.filter((name) => /^[0-9a-f]{16}$/.test(name));
}
