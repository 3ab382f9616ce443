import { type BackendCandidate, type BackendChoice, LorekeepError, useBackend } from '../../lib/internal.js';
import type { ServerConfig } from '../config/schema.js';
import { FlagError } from '../config/startup-error.js';
import type { Log } from '../log/log.js';

const field = 'engines.llm_engine.backend';

/**
 * Lets models use the GPU that the config asks for, and logs why. A named backend that cannot be used is a warning, and
 * the CPU is used. @throws FlagError if the command line named it
 */
export async function chooseBackend(
  { engines }: ServerConfig,
  sources: ReadonlyMap<string, string>,
  log: Log,
): Promise<BackendChoice> {
  const { backend, vram_reserve_mb } = engines.llm_engine;
  try {
    const choice = await useBackend(backend, { reserveBytes: vram_reserve_mb * 1024 * 1024 });
    report(choice.candidates, log);
    return choice;
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'UNSUPPORTED') throw error;
    const candidates = (error.detail.candidates ?? []) as BackendCandidate[];
    report(candidates, log);
    const source = sources.get(field) ?? field;
    const isFlag = source.startsWith('--');
    const told = `${isFlag ? `${source} ` : `${field}: `}${backend}: ${error.detail.reason ?? error.message}`;
    if (isFlag) throw new FlagError(told, { cause: error });
    log.warn(`${told}; models run on the CPU`);
    return { ...(await useBackend('cpu')), candidates };
  }
}

function report(candidates: readonly BackendCandidate[], log: Log): void {
  for (const { backend, state, reason, file } of candidates)
    log.info(
      { backend, state, ...(file !== undefined && { file }) },
      `backend ${backend}: ${state}: ${reason}`,
    );
}
