import { existsSync } from 'node:fs';
import type { ComputeSettings } from '../../../lib/internal.js';
import { counted } from '../terminal/amounts.js';
import { type Finding, ok, warning } from './finding.js';

/** Number of models shown: those measured last. */
const maxShown = 10;

/** Shows the runtimes that first loads of models measured on this machine. Precondition: the addon loads. */
export async function checkRuntimes(): Promise<Finding[]> {
  return [...(await runtimesOf('embedding')), ...(await runtimesOf('generation'))];
}

async function runtimesOf(kind: 'embedding' | 'generation'): Promise<Finding[]> {
  const { measuredSettings } = await import('../../../lib/internal.js');
  const { file, entries, obstacle } = await measuredSettings(kind);
  const models = latestOfEach(entries);
  const shown = models.filter(({ path }) => existsSync(path)).slice(0, maxShown);
  if (kind === 'embedding' && entries.length === 0 && obstacle === undefined)
    return [ok(kind, 'nothing is measured yet; the first load of a model measures')];
  if (kind === 'generation' && shown.length === 0 && obstacle === undefined) return [];
  const others = models.length - shown.length;
  const rest = others === 0 ? '' : `, with ${counted(others, 'other')} (older, or of files that are gone)`;
  // `obstacle`: why the file will not be written.
  const kept =
    obstacle === undefined
      ? ok(kind, `kept in ${file}${rest}`)
      : warning(
          kind,
          `new measurements are not kept, so each process measures again: ${obstacle.message}`,
          'free the path, or name another folder with LOREKEEP_CACHE',
        );
  const lines = shown.map(({ name, fingerprint, runtime, batchTokens, path }) => {
    const batches = kind === 'embedding' ? `, batches of ${batchTokens} tokens` : '';
    return ok(kind, `${name} (${fingerprint}): ${runtime}${batches} (${path})`);
  });
  return [...lines, kept];
}

/** The newest entry of each model, newest first. Several builds may have measured the same model. */
function latestOfEach(entries: readonly ComputeSettings[]): ComputeSettings[] {
  const latest = new Map<string, ComputeSettings>();
  for (const entry of entries.toReversed()) {
    if (!latest.has(entry.fingerprint)) latest.set(entry.fingerprint, entry);
  }
  return [...latest.values()];
}
