import { pullKnowledgeBase, pushKnowledgeBase } from '../../knowledge/postgres/transfer.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { requireKnowledgeBaseFile } from '../knowledge-base-file.js';
import { CommandModels } from '../models.js';
import { print, printJson, warnWithCause } from '../output.js';
import { counted, duration } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';

export interface TransferFlags extends ModelFlags {
  json?: boolean;
}

export interface PushFlags extends TransferFlags {
  replace?: boolean;
}

const log = { info() {}, warn: warnWithCause };

/** `lorekeep push`: writes a knowledge base in files into a database. */
export async function push(from: string, to: string, flags: PushFlags): Promise<void> {
  await requireKnowledgeBaseFile(from);
  await requireKnowledgeBaseFile(to);
  await interruptible(async (signal) => {
    const started = performance.now();
    await using models = await CommandModels.open(flags);
    const { connections } = models;
    const replace = flags.replace === true;
    const records = await pushKnowledgeBase(from, to, { models, connections, signal, log, replace });
    const ms = Math.round(performance.now() - started);
    if (flags.json) printJson({ records, ms });
    else print(`${counted(records, 'record')} pushed in ${duration(ms)}`);
  });
}

/** `lorekeep pull`: writes a knowledge base in a database into files. */
export async function pull(from: string, to: string, flags: TransferFlags): Promise<void> {
  await requireKnowledgeBaseFile(from);
  await interruptible(async (signal) => {
    await using models = await CommandModels.open(flags);
    const { connections } = models;
    const { records, files } = await pullKnowledgeBase(from, to, { models, connections, signal, log });
    if (flags.json) return printJson({ records, files });
    print(`${counted(records, 'record')} pulled`);
    for (const path of files) print(`wrote ${printable(path)}`);
  });
}
