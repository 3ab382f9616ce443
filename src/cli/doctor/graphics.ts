import type { BackendCandidate, BackendName } from '../../../lib/internal.js';
import type { ServerConfig } from '../../config/schema.js';
import { type Finding, ok, warning } from './finding.js';

/** Loads each GPU plugin that the config allows in a child process, and explains every candidate. */
export async function checkGraphics({ engines }: ServerConfig): Promise<Finding[]> {
  const { findBackend } = await import('../../../lib/internal.js');
  const { backend } = engines.llm_engine;
  const { candidates } = await findBackend(backend, { fresh: true });
  return candidates.map((candidate) => describe(candidate, backend));
}

function describe({ backend, state, reason, file }: BackendCandidate, wanted: BackendName): Finding {
  const told = `${backend}: ${state}: ${reason}${file !== undefined && state === 'chosen' ? ` (${file})` : ''}`;
  // An absent plugin is as usual as an absent GPU, unless the config names it.
  const broken = state === 'failed' || state === 'other version' || state === 'library missing';
  if (state === 'chosen' || state === 'not tried' || (wanted === 'auto' && !broken))
    return ok('graphics', told);
  const fix = fixes[state] ?? 'install a driver for the GPU, or set engines.llm_engine.backend to cpu';
  return warning('graphics', told, fix);
}

const fixes: Readonly<Partial<Record<BackendCandidate['state'], string>>> = {
  'file missing': 'install it, or set engines.llm_engine.backend to cpu',
  'library missing': 'install the library, usually with the driver of the GPU, or remove the plugin',
  'other version': 'install the plugin of the same version as lorekeep',
  'software only': 'install the driver of the GPU',
};
