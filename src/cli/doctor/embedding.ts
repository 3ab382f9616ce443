import { existsSync } from 'node:fs';
import type { ComputeSettings } from '../../../lib/internal.js';
import { counted } from '../terminal/amounts.js';
import { type Finding, ok, warning } from './finding.js';

/** Number of models shown: those measured last. */
const maxShown = 10;

/** Shows the runtimes that first loads measured on this machine. Precondition: the addon loads. */
export async function checkEmbedding(): Promise<Finding[]> {
  const { measuredSettings } = await import('../../../lib/internal.js');
  const { file, entries, obstacle } = await measuredSettings();
  if (entries.length === 0 && obstacle === undefined)
    return [ok('embedding', 'nothing is measured yet; the first load of a model measures')];
  const models = latestOfEach(entries);
  const shown = models.filter(({ path }) => existsSync(path)).slice(0, maxShown);
  const others = models.length - shown.length;
  const rest = others === 0 ? '' : `, with ${counted(others, 'other')} (older, or of files that are gone)`;
  return [
    ...shown.map(({ name, fingerprint, runtime, batchTokens, path }) =>
      ok('embedding', `${name} (${fingerprint}): ${runtime}, batches of ${batchTokens} tokens (${path})`),
    ),
    kept('embedding', `${file}${rest}`, obstacle),
  ];
}

/** `obstacle`: why the file will not be written. */
const kept = (subject: string, file: string, obstacle: Error | undefined) =>
  obstacle === undefined
    ? ok(subject, `kept in ${file}`)
    : warning(
        subject,
        `new measurements are not kept, so each process measures again: ${obstacle.message}`,
        'free the path, or name another folder with LOREKEEP_CACHE',
      );

/** Shows the runtimes of language models; nothing if none was measured. Precondition: the addon loads. */
export async function checkGeneration(): Promise<Finding[]> {
  const { measuredSettings } = await import('../../../lib/internal.js');
  const { file, entries, obstacle } = await measuredSettings('generation');
  const shown = latestOfEach(entries)
    .filter(({ path }) => existsSync(path))
    .slice(0, maxShown)
    .map(({ name, fingerprint, runtime, path }) =>
      ok('generation', `${name} (${fingerprint}): ${runtime} (${path})`),
    );
  const silent = shown.length === 0 && obstacle === undefined;
  return silent ? [] : [...shown, kept('generation', file, obstacle)];
}

/** The newest entry of each model, newest first. Several builds may have measured the same model. */
function latestOfEach(entries: readonly ComputeSettings[]): ComputeSettings[] {
  const latest = new Map<string, ComputeSettings>();
  for (const entry of entries.toReversed()) {
    if (!latest.has(entry.fingerprint)) latest.set(entry.fingerprint, entry);
  }
  return [...latest.values()];
}
