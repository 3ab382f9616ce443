import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncFolder } from '../../../lib/basics.js';
import { identifyFile } from '../../../lib/internal.js';
import { type KnowledgeBaseConfig, knowledgeBaseSchema } from '../config-schema.js';
import type { KnowledgeModel } from '../model.js';
import { newHeader } from './base-log.js';
import { ChangeLogWriter } from './log-writer.js';
import { emptiedContent } from './merge-files.js';

/** Such bases hold texts of users, and are the owner's alone. */
const ownerOnly = 0o600;

/**
 * Writes a knowledge base without records, which opens and takes changes: its config at `path`, and beside it the records file and
 * the change log. They are on the device when it resolves. Precondition: the files are absent. @throws system errors, IO
 */
export async function createEmptyBase(
  path: string,
  config: Pick<KnowledgeBaseConfig, 'embedding_model' | 'records_file'> & Partial<KnowledgeBaseConfig>,
  model: KnowledgeModel,
): Promise<void> {
  const records = resolve(dirname(path), config.records_file);
  knowledgeBaseSchema.parse(config);
  await writeNew(path, `${JSON.stringify(config, undefined, 2)}\n`);
  await writeNew(records, emptiedContent);
  const header = newHeader(model, await identifyFile(records), 0);
  await (await ChangeLogWriter.create(`${records}.changes`, header)).close();
}

/** Writes a file of the owner's that is absent. @throws system errors */
export async function writeNew(path: string, content: string): Promise<void> {
  await using file = await open(path, 'wx', ownerOnly);
  await file.writeFile(content);
  await file.sync();
  await syncFolder(dirname(path));
}
