import type { RecallMeasurement } from '../../../lib/internal.js';
import { openKnowledgeBase } from '../../knowledge/index.js';
import type { CommandModels } from '../models.js';
import { type CheckResult, warningFinding } from './findings.js';

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
  models: CommandModels,
  signal: AbortSignal,
): Promise<CheckResult> {
  const log = { info: () => {}, warn: () => {} };
  await using kb = await openKnowledgeBase(file, {
    models,
    connections: models.connections,
    signal,
    log,
    readOnly: true,
  });
  const recall = await kb.embedded.reportRecall({ signal });
  const low = recall.filter((one) => one.recall < promised);
  const notes = recall.filter((one) => one.recall >= promised).map(recallText);
  const findings = low.map((one) => warningFinding(`${file}: ${recallText(one)}`));
  if (low.length > 0) findings.push(warningFinding(`${file}: ${advice(low, kb.config.search?.ef_search)}`));
  return { findings, notes, data: { recall } };
}

function recallText({ filter, share, recall, ef }: RecallMeasurement): string {
  const measured = `recall@10 ${recall.toFixed(3)} ${kept[filter](`${share * 100} %`)}`;
  if (recall >= promised) return measured;
  return ef === undefined
    ? `${measured}: no width up to 32 times the default is enough`
    : `${measured}: ${promised} from ef ${ef} on`;
}

/** Returns one remedy for all measurements that are too low. */
function advice(low: readonly RecallMeasurement[], efSearch: number | undefined): string {
  const enough = low.every(({ ef }) => ef !== undefined);
  const fix = enough
    ? `set search.ef_search to ${Math.max(...low.map(({ ef }) => ef ?? 0))}`
    : 'rebuild the index with a larger hnsw.m and hnsw.ef_construction';
  const now = efSearch === undefined ? 'the default ef' : `search.ef_search ${efSearch}`;
  return `${now} does not reach recall ${promised} on these records: ${fix}; an index file of an older version or of hnswlib is calibrated when you rebuild it`;
}
