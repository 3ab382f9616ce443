import type { RecallMeasurement } from '../../../lib/internal.js';
import { commandName, shellWord } from '../../base/schema/shell-word.js';
import { openKnowledgeBase } from '../../knowledge/index.js';
import { requireKnowledgeBaseFile } from '../knowledge-base-file.js';
import { CommandModels } from '../models.js';
import { type Finding, failed, ok, warning } from './finding.js';

/** Recall that docs/concepts/search.md promises. */
const promised = 0.99;

const kept = {
  none: () => 'without a filter',
  random: (share: string) => `if a filter keeps ${share} of the records at random`,
  near: (share: string) => `if a filter keeps the nearest ${share} of the records`,
  far: (share: string) => `if a filter keeps the farthest ${share} of the records`,
};

/** Measures the recall of a knowledge base on its own records, with and without filters. */
export async function checkRecall(
  file: string,
  config: string | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  await requireKnowledgeBaseFile(file);
  try {
    await using models = await CommandModels.open(config === undefined ? {} : { config });
    const log = { info: () => {}, warn: () => {} };
    await using kb = await openKnowledgeBase(file, { models, signal, log, readOnly: true });
    const measured = await kb.storage.reportRecall({ signal });
    return [...measured.map(finding), ...advice(measured, kb.config.hnsw?.ef_search)];
  } catch (error) {
    signal.throwIfAborted();
    return [
      failed(
        'recall',
        (error as Error).message,
        `${commandName()} check ${shellWord(file)} shows all mistakes`,
      ),
    ];
  }
}

function finding({ filter, share, recall, ef }: RecallMeasurement): Finding {
  const message = `recall@10 ${recall.toFixed(3)} ${kept[filter](`${share * 100} %`)}`;
  if (recall >= promised) return ok('recall', message);
  const fix =
    ef === undefined ? 'no width up to 32 times the default is enough' : `${promised} from ef ${ef} on`;
  return warning('recall', message, fix);
}

/** One remedy for all that is too low. */
function advice(measured: readonly RecallMeasurement[], efSearch: number | undefined): Finding[] {
  const low = measured.filter(({ recall }) => recall < promised);
  if (low.length === 0) return [ok('recall', 'no change needed')];
  const enough = low.every(({ ef }) => ef !== undefined);
  const widest = Math.max(...low.map(({ ef }) => ef ?? 0));
  const fix = enough
    ? `set hnsw.ef_search to ${widest}`
    : 'rebuild the index with a larger hnsw.m and hnsw.ef_construction';
  const now = efSearch === undefined ? 'the default ef' : `hnsw.ef_search ${efSearch}`;
  return [
    warning(
      'recall',
      `${now} does not reach ${promised} on these records`,
      `${fix}; an index file of an older version or of hnswlib is calibrated when you rebuild it`,
    ),
  ];
}
