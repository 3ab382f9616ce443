import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LorekeepError } from '../../lib/index.js';
import { checkDestination, type FileOwner, type WrittenKind } from '../../lib/internal.js';
import { makeFolder } from '../../lib/os/make-folder.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { KnowledgeBaseFiles } from './paths.js';

/** A file of a knowledge base that lorekeep writes. */
export type WrittenFile = 'index' | 'textIndex' | 'embeddings';

const kinds: Record<WrittenFile, { kind: WrittenKind; field: keyof KnowledgeBaseConfig }> = {
  index: { kind: 'index', field: 'index_file' },
  textIndex: { kind: 'text index', field: 'bm25_file' },
  embeddings: { kind: 'embeddings', field: 'embeddings_file' },
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
    const reason = `the folder ${folder} cannot be made: ${(cause as Error).message}`;
    throw LorekeepError.about('IO', { file: path, reason, folder }, { cause });
  }
}

async function checkPlace({ path, files }: Opened, file: WrittenFile, owner: FileOwner | undefined) {
  const target = file === 'index' ? files.indexPlace : files[file];
  if (target === undefined) return;
  const { kind, field } = kinds[file];
  try {
    await checkDestination(target, kind, owner);
  } catch (cause) {
    if (!(cause instanceof LorekeepError)) throw cause;
    // An unreadable file is reported by its writer.
    if (cause.code === 'IO') return;
    throw LorekeepError.about(cause.code, { file: path, field, reason: cause.message }, { cause });
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
  for (const [field, target] of Object.entries(named)) {
    if (target === undefined) continue;
    const spelled = config[field as keyof typeof named];
    const identity = await identityOf(target);
    const other = taken.get(identity);
    if (other !== undefined) {
      const shown = spelled === undefined ? 'its default next to index_file' : JSON.stringify(spelled);
      const reason = `${shown} is the same file as ${other}`;
      throw LorekeepError.about('INVALID_ARGUMENT', { file: path, field, reason });
    }
    taken.set(identity, spelled === undefined ? field : `${field} ${JSON.stringify(spelled)}`);
  }
}

/** Device and inode; for an absent file those of its folder, and its name. */
async function identityOf(path: string): Promise<string> {
  const found = await identity(path);
  if (found !== undefined) return found;
  return `${(await identity(dirname(path))) ?? dirname(path)}/${basename(path)}`;
}

async function identity(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
