import { buildKnowledgeBase } from '../../knowledge/index.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { requireKnowledgeBaseFile } from '../knowledge-base-file.js';
import { CommandModels } from '../models.js';
import { print, printJson, warnWithCause } from '../output.js';
import { count, counted, duration } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';

export interface BuildFlags extends ModelFlags {
  json?: boolean;
}

/** `lorekeep build`: embeds the records and writes the index files. */
export async function build(file: string, flags: BuildFlags): Promise<void> {
  await requireKnowledgeBaseFile(file);
  await interruptible(async (signal) => {
    const started = performance.now();
    await using models = await CommandModels.open(flags);
    const view = progressView(process.stderr, { json: flags.json });
    const log = { info() {}, warn: warnWithCause };
    try {
      const onProgress = view.update.bind(view);
      const built = await buildKnowledgeBase(file, { models, signal, log, onProgress });
      const ms = Math.round(performance.now() - started);
      if (flags.json) return printJson({ ...built, ms });
      const reused = built.reused > 0 ? `, ${count(built.reused)} embeddings kept` : '';
      const kept = built.indexFile === undefined ? 0 : built.records - built.linked;
      const links = kept > 0 ? `, links of ${counted(kept, 'record')} kept` : '';
      print(`${counted(built.records, 'record')} in ${duration(ms)}${reused}${links}`);
      for (const path of built.written) print(`wrote ${printable(path)}`);
    } finally {
      view.stop();
    }
  });
}
