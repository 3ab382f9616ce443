import { cpus } from 'node:os';
import { addonAttempts, LorekeepError } from '../../../lib/basics.js';
import type { BackendInfo, DistanceKernels } from '../../../lib/internal.js';
import { homeFolder } from '../../base/files/home.js';
import { unknownKernels } from '../../config/variables.js';
import threadRoom from '../thread-room.cjs';
import { type AddonReport, explainAddon } from './addon.js';
import { type Finding, failed, ok, warning } from './finding.js';

/** Names the version of Node.js. An older one than the package needs runs no command. */
export function checkNode(): Finding {
  return ok('Node.js', `${process.versions.node} (${process.platform} ${process.arch})`);
}

/** The addon, the processor, and the backends that the addon finds. Without an addon: why it does not load. */
export async function checkAddon(): Promise<{ findings: Finding[]; report?: AddonReport }> {
  const room = threadRoom(homeFolder);
  // Loading a defective library can end the process, so a child process tries first. Where few threads may be started it
  // would get none, and counting them has loaded the addon.
  const refusal = room === undefined ? (await addonAttempts()).whyNotLoadable() : undefined;
  if (refusal !== undefined) return explainAddon(refusal);
  try {
    const { addonFile, backends, distanceKernels } = await import('../../../lib/internal.js');
    const findings = [
      ok('addon', addonFile),
      ...checkBackends(backends()),
      ...checkKernels(distanceKernels()),
      ...checkThreads(room),
    ];
    return { findings };
  } catch (error) {
    const { reason = (error as Error).message } = error instanceof LorekeepError ? error.detail : {};
    return explainAddon(String(reason));
  }
}

/** Further threads that a server hardly needs. */
const threadsEnough = 32;

function checkThreads(room: ReturnType<typeof threadRoom>): Finding[] {
  if (room === undefined || room.threads >= threadsEnough) return [];
  const told = `the system allows only ${room.threads} more, by the limit of ${room.limits.join(', and of ')}`;
  return [warning('threads', told, 'raise the limit')];
}

function checkBackends(found: readonly BackendInfo[]): Finding[] {
  const processor = found.find(({ name }) => name.startsWith('CPU'));
  const model = cpus()[0]?.model.trim() ?? process.arch;
  return [
    processor === undefined
      ? failed(
          'processor',
          `${model}: no plugin for it was found`,
          'reinstall lorekeep, or run `npm run build` in a checkout',
        )
      : ok('processor', `${model}: ${processor.features.join(' ')} (${processor.file || 'built in'})`),
    ...memoryFindings(),
  ];
}

function checkKernels(kernels: DistanceKernels): Finding[] {
  const told = unknownKernels(process.env, kernels);
  return [
    ok('distances', `${kernels.used} (of ${kernels.available.join(', ')})`),
    ...(told === undefined ? [] : [warning('variable', told, 'correct its value, or unset it')]),
  ];
}

/** Below this much memory only small models and indexes fit. */
const comfortableBytes = 1024 ** 3;

function memoryFindings(): Finding[] {
  const available = process.availableMemory();
  if (available >= comfortableBytes) return [];
  const shown = `${Math.round(available / 1024 ** 2)} MiB are available`;
  return [warning('memory', shown, 'close other programs, or use small models')];
}
