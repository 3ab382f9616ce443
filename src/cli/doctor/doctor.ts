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
import { wrapped } from '../terminal/lines.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { checkCrashDumps } from './crash-dumps.js';
import { type Finding, failed, ok, warning } from './finding.js';
import { checkGraphics } from './graphics.js';
import { checkAccess, checkFolders, checkPort } from './installation.js';
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
    const loaded = await findConfig(path);
    const { config, file, warnings } = loaded;
    return [
      ok('config', file ?? 'built-in defaults'),
      ...warnings.map((text) =>
        warning('config', text, file === undefined ? 'name another one' : 'correct the file'),
      ),
      ...unknownVariables(process.env).map((text) =>
        warning('variable', text, 'correct its name, or unset it'),
      ),
      ...(options.tryOut ? await checkGraphics(config) : []),
      ...(await checkModels(loaded, { ...options, flags: givenFlags({ config: path }) })),
      await checkPort(config, options),
      ...checkAccess(config),
      ...(await checkFolders(loaded)),
      ...(await checkCrashDumps(loaded)),
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

/** Columns that messages need beside their subjects; with fewer they go below them. */
const narrowestText = 30;

const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;
const styles = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

function printFindings(findings: readonly Finding[], screen: Screen): void {
  const markWidth = marks.warning.length;
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { subject, status, message, fix } of findings) {
    const mark = screen.style(styles[status], marks[status]) + ' '.repeat(markWidth - marks[status].length);
    const head = `${mark}  ${padEnd(printable(subject), width)}`;
    const under = markWidth + width + 4;
    // Beside a narrow column of subjects nothing could be read.
    const isNarrow = screen.limit - under < narrowestText;
    const indent = ' '.repeat(isNarrow ? 2 : under);
    const [first = '', ...others] = wrapped(message, screen.limit, indent);
    if (isNarrow)
      for (const line of [...wrapped(subject, screen.limit, `${mark.trimEnd()}  `, '  '), first]) print(line);
    else print(`${head}  ${first.slice(under)}`);
    for (const line of others) print(line);
    if (fix !== undefined)
      for (const line of wrapped(`-> ${fix}`, screen.limit, indent, `${indent}   `)) print(line);
  }
  const failures = findings.filter(({ status }) => status === 'failed').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const rest = warnings > 0 ? `, ${counted(warnings, 'warning')}` : '';
  print('');
  const verdict = failures === 0 ? 'ready to serve' : counted(failures, 'failure');
  for (const line of wrapped(`${verdict}${rest}`, screen.limit, '')) print(line);
}
