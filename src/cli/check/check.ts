import { basename } from 'node:path';
import { maxListed } from '../../base/schema/messages.js';
import { openCatalog } from '../catalog/open-catalog.js';
import { exitStatus } from '../exit-status.js';
import { UsageError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { requireFile } from '../knowledge-base-file.js';
import { print, printJson } from '../output.js';
import { counted } from '../terminal/amounts.js';
import { columns } from '../terminal/columns.js';
import { wrapped } from '../terminal/lines.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { checkCatalog } from './catalog.js';
import { checks } from './checks.js';
import type { CheckResult, Finding } from './findings.js';
import type { CheckFlags } from './flags.js';
import { type CheckedKind, kindNames, kindOf } from './kind.js';

/** Number of errors listed. Later ones are usually consequences of these. */
const listedErrors = 20;
const listedWarnings = 20;

/**
 * `lorekeep check`: detects the kind of a file, checks it and the files it names, and writes nothing. Without a file it
 * checks the models of the server's catalog.
 */
export async function check(given: string | undefined, flags: CheckFlags): Promise<void> {
  if (given !== undefined) await requireFile(given, 'a file');
  await interruptible(async (signal) => {
    const { file, kind, ...result } = await checked(given, flags, signal);
    const { findings, facts, notes = [], lines = [], data } = result;
    const errors = findings.filter(({ severity }) => severity === 'error');
    const warnings = findings.filter(({ severity }) => severity === 'warning');
    const ok = errors.length === 0;
    if (!ok) process.exitCode = exitStatus.failed;
    if (flags.json) return printJson({ file, kind, ok, facts, notes, findings, ...data });
    const screen = new Screen(process.stdout);
    for (const text of lines) printWrapped(text, screen);
    printFindings(errors, listedErrors, (text) => screen.style(['red', 'bold'], text));
    printFindings(warnings, listedWarnings, (text) => screen.style('yellow', text));
    for (const text of notes) printWrapped(`note: ${text}`, screen);
    const counts = [errorCount(errors), counted(warnings.length, 'warning')].join(', ');
    const what = [kindNames[kind], ...(facts === undefined ? [] : [facts])].join(', ');
    printWrapped(`${basename(file)}: ${what}: ${ok && warnings.length === 0 ? 'ok' : counts}`, screen);
  });
}

function printWrapped(text: string, { limit }: Screen): void {
  // A text that fits keeps its alignment.
  for (const line of columns(text) <= limit ? [printable(text)] : wrapped(text, limit, '', '  ')) print(line);
}

async function checked(
  given: string | undefined,
  flags: CheckFlags,
  signal: AbortSignal,
): Promise<CheckResult & { file: string; kind: CheckedKind }> {
  if (given === undefined) {
    const catalog = await openCatalog(flags);
    const result = await checkCatalog(catalog, { signal, names: flags.model });
    return { file: catalog.file, kind: 'catalog', ...result };
  }
  const kind = flags.as ?? (await kindOf(given));
  if (flags.recall && kind !== 'knowledge-base')
    throw new UsageError(
      `--recall: ${given} is a ${kindNames[kind]}; the config of a knowledge base is expected`,
    );
  if (flags.against !== undefined && kind !== 'knowledge-base')
    throw new UsageError(
      `--against: ${given} is a ${kindNames[kind]}; the config of a knowledge base is expected`,
    );
  if (flags.model && kind !== 'catalog')
    throw new UsageError(`--model: ${given} is a ${kindNames[kind]}; a model catalog is expected`);
  return { file: given, kind, ...(await checks[kind](given, flags, signal)) };
}

/** Long lists are counted up to the number that their message lists. */
function errorCount(errors: readonly Finding[]): string {
  const numbers = errors.map(({ mistakes = 1 }) => mistakes);
  if (numbers.some((mistakes) => mistakes > maxListed)) return `more than ${counted(maxListed, 'error')}`;
  return counted(
    numbers.reduce((sum, mistakes) => sum + mistakes, 0),
    'error',
  );
}

function printFindings(findings: readonly Finding[], most: number, style: (text: string) => string): void {
  for (const { severity, message } of findings.slice(0, most)) {
    // A message about records has a line for each.
    const [first = '', ...rest] = message.split('\n').map(printable);
    print(`${style(severity)}: ${first}`);
    for (const line of rest) print(`  ${line}`);
  }
  if (findings.length > most)
    print(`and ${counted(findings.length - most, `more ${findings[0]?.severity}`)}`);
}
