import { commandName } from '../../base/schema/shell-word.js';
import { FlagError } from '../../config/startup-error.js';
import { unknownVariables } from '../../config/variables.js';
import { givenFlags } from '../catalog/open-catalog.js';
import { exitStatus } from '../exit-status.js';
import { failureMessage, isOfAbsentFolder } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { print, printJson } from '../output.js';
import { findConfig } from '../server-config.js';
import { counted } from '../terminal/amounts.js';
import { padEnd } from '../terminal/columns.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { checkCrashDumps } from './crash-dumps.js';
import { type Finding, failed, ok, warning } from './finding.js';
import { checkGraphics } from './graphics.js';
import { checkAccess, checkPort, checkWritable } from './installation.js';
import { checkAddon, checkNode } from './machine.js';
import { checkModels } from './models.js';
import { checkRuntimes } from './runtimes.js';

export interface DoctorFlags {
  config?: string;
  json?: boolean;
}

/** `lorekeep doctor`: checks everything that the server needs, and continues after a failed check. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  await interruptible(async (signal) => {
    const addon = await checkAddon();
    const machine = [checkNode(), ...addon.findings];
    const tryOut = machine.every(({ status }) => status !== 'failed');
    const installation = await checkInstallation(flags.config, { tryOut, signal });
    // Last, because trying a model measures it.
    const findings = [...machine, ...installation, ...(tryOut ? await checkRuntimes() : [])];
    const failures = findings.filter(({ status }) => status === 'failed').length;
    if (failures > 0) process.exitCode = exitStatus.failed;
    if (flags.json) return printJson({ ok: failures === 0, findings, addon: addon.report });
    printFindings(findings, new Screen(process.stdout));
  });
}

async function checkInstallation(
  path: string | undefined,
  options: { tryOut: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  try {
    const { config, file, warnings } = await findConfig(path);
    const { logs_dir, models_download_dir } = config;
    return [
      ok('config', file ?? 'built-in defaults'),
      ...warnings.map((text) =>
        warning('config', text, file === undefined ? 'name another one' : 'correct the file'),
      ),
      ...unknownVariables(process.env).map((text) =>
        warning('variable', text, 'correct its name, or unset it'),
      ),
      ...(options.tryOut ? await checkGraphics(config) : []),
      ...(await checkModels(config, { ...options, flags: givenFlags({ config: path }) })),
      await checkPort(config, options),
      ...checkAccess(config),
      ...(logs_dir === '' ? [] : [await checkWritable('logs_dir', logs_dir)]),
      await checkWritable('models_download_dir', models_download_dir),
      ...(await checkCrashDumps(config)),
    ];
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof FlagError) throw error;
    const fix = isOfAbsentFolder(error)
      ? 'run it in another folder'
      : `correct the file: ${commandName()} check shows all mistakes`;
    return [failed('config', failureMessage(error), fix)];
  }
}

const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;
const styles = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

function printFindings(findings: readonly Finding[], screen: Screen): void {
  const markWidth = marks.warning.length;
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { subject, status, message, fix } of findings) {
    const mark = screen.style(styles[status], marks[status]) + ' '.repeat(markWidth - marks[status].length);
    print(`${mark}  ${padEnd(printable(subject), width)}  ${printable(message)}`);
    if (fix !== undefined) print(`${' '.repeat(markWidth + width + 4)}-> ${printable(fix)}`);
  }
  const failures = findings.filter(({ status }) => status === 'failed').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const rest = warnings > 0 ? `, ${counted(warnings, 'warning')}` : '';
  print(failures === 0 ? `\nready to serve${rest}` : `\n${counted(failures, 'failure')}${rest}`);
}
