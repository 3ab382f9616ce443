import { basename, dirname } from 'node:path';
import { fileIdAt, makeFolder, systemReason } from '../../lib/basics.js';
import { checkDestination, type FileOwner, LorekeepError, type WrittenKind } from '../../lib/internal.js';
import { isSealed } from '../base/files/home.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { KnowledgeLog } from './log.js';
import type { KnowledgeBaseFiles } from './paths.js';

/** A file of a knowledge base that lorekeep writes. */
export type WrittenFile = 'index' | 'textIndex' | 'embeddings';

interface WrittenFacts {
  kind: WrittenKind;
  field: keyof KnowledgeBaseConfig;
  /** The warning if the file cannot be written. */
  unwritten: string;
}

const kinds: Record<WrittenFile, WrittenFacts> = {
  index: {
    kind: 'index',
    field: 'index_file',
    unwritten: 'index not written: it is built again on every opening',
  },
  textIndex: {
    kind: 'text index',
    field: 'bm25_file',
    unwritten: 'text index not written: it is built again on every opening',
  },
  embeddings: {
    kind: 'embeddings',
    field: 'embeddings_file',
    unwritten: 'embeddings file not written: the texts are embedded again next time',
  },
};

interface Opened {
  /** The config file. */
  path: string;
  config: KnowledgeBaseConfig;
  files: KnowledgeBaseFiles;
}

/** The owner of a knowledge base's files. */
export const ownerOf = ({ path, files }: Pick<Opened, 'path' | 'files'>): FileOwner => ({
  config: path,
  records: files.records,
});

/**
 * Refuses a config that would overwrite a file: no two fields may name the same file, and the files in `written` must be
 * absent, empty, or files of ours of that kind. @throws INVALID_ARGUMENT that names both files
 */
export async function checkDestinations(opened: Opened, written: readonly WrittenFile[]): Promise<void> {
  await checkDistinct(opened);
  for (const file of written) await checkPlace(opened, file, undefined);
}

/**
 * Also refuses a file that belongs to another knowledge base. Call it before computing the file's content; the writer
 * checks again. @throws INVALID_ARGUMENT
 */
export async function checkOwnDestination(opened: Opened, file: WrittenFile): Promise<void> {
  await checkPlace(opened, file, ownerOf(opened));
}

/** Creates the folder of a file that is about to be written. @throws IO */
export function makeFolderOf(path: string): void {
  const folder = dirname(path);
  try {
    makeFolder(folder);
  } catch (cause) {
    const reason = `its folder cannot be made: ${systemReason(cause)}`;
    throw LorekeepError.about('IO', { file: path, reason, folder }, { cause });
  }
}

type CacheSource = Pick<Opened, 'files'> & { readOnly: boolean; log: KnowledgeLog };

/**
 * Writes a file that only saves time, unless the source is read-only. A failure is a warning. Returns whether it was
 * written. @throws errors of `write()` but IO
 */
export async function writeCache(
  { files, readOnly, log }: CacheSource,
  file: WrittenFile,
  write: (path: string) => Promise<unknown>,
): Promise<boolean> {
  const path = file === 'index' ? files.indexPlace : files[file];
  if (path === undefined || readOnly) return false;
  try {
    await write(path);
    return true;
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'IO') throw error;
    log.warn({ file: files[file], err: error }, kinds[file].unwritten);
    return false;
  }
}

/** A file as the config spells it. */
const spelling = (config: KnowledgeBaseConfig, field: keyof KnowledgeBaseConfig) =>
  config[field] === undefined ? 'its default next to index_file' : JSON.stringify(config[field]);

async function checkPlace({ path, config, files }: Opened, file: WrittenFile, owner: FileOwner | undefined) {
  const target = file === 'index' ? files.indexPlace : files[file];
  if (target === undefined) return;
  const { kind, field } = kinds[file];
  if (isSealed(target)) {
    const reason = `${spelling(config, field)}: lies in the folder of the installed package`;
    const remedy = 'copy the knowledge base to another folder';
    throw LorekeepError.about('INVALID_ARGUMENT', { file: path, field, reason, remedy });
  }
  try {
    await checkDestination(target, kind, owner);
  } catch (cause) {
    if (!(cause instanceof LorekeepError)) throw cause;
    // An unreadable file is reported by its writer.
    if (cause.code === 'IO') return;
    const { reason = '', remedy } = cause.detail;
    const facts = { file: path, field, reason: `${spelling(config, field)}: ${reason}`, remedy };
    throw LorekeepError.about(cause.code, facts, { cause });
  }
}

/** Compares by device and inode, so that links, other spellings and linked folders are recognised as the same file. */
async function checkDistinct({ path, config, files }: Opened): Promise<void> {
  const taken = new Map([[await identityOf(path), 'this config file']]);
  const named = {
    records_file: files.records,
    index_file: files.index,
    bm25_file: files.textIndex,
    embeddings_file: files.embeddings,
  };
  for (const [name, target] of Object.entries(named)) {
    if (target === undefined) continue;
    const field = name as keyof typeof named;
    const identity = await identityOf(target);
    const other = taken.get(identity);
    if (other !== undefined) {
      const reason = `${spelling(config, field)} is the same file as ${other}`;
      throw LorekeepError.about('INVALID_ARGUMENT', { file: path, field, reason });
    }
    taken.set(identity, config[field] === undefined ? field : `${field} ${JSON.stringify(config[field])}`);
  }
}

/** The id of a file; of an absent file, its folder's id and its name. */
async function identityOf(path: string): Promise<string> {
  const folder = dirname(path);
  return (await fileIdAt(path)) ?? `${(await fileIdAt(folder)) ?? folder}/${basename(path)}`;
}
