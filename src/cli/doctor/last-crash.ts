import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ownDumps } from '../../crash/dump-files.js';
import { dumpFolder } from '../../crash/dump-folder.js';
import { type CodePlace, type Explanation, explainCrash } from '../../crash/explain.js';
import { NotADump, readMinidump } from '../../crash/minidump.js';
import { Symbols } from '../../crash/symbols.js';
import { homeFolder } from '../../files/home.js';
import { CommandError } from '../failure.js';
import { print, printJson } from '../output.js';
import { findConfig } from '../server-config.js';
import { printable } from '../terminal/printable.js';

export interface LastCrashFlags {
  config?: string;
  json?: boolean;
  /** A dump; true: the newest of the server's. */
  lastCrash: string | true;
  symbols?: string;
}

/** Larger files are no dumps of lorekeep, which have some hundred kilobytes. */
const maxBytes = 64 * 1024 * 1024;

/** `lorekeep doctor --last-crash`: explains the newest crash dump of the server, or a given one. */
export async function explainLastCrash(flags: LastCrashFlags): Promise<void> {
  const path = flags.lastCrash === true ? await newestDump(flags.config) : flags.lastCrash;
  if (path === undefined) return;
  const folder = flags.symbols ?? join(homeFolder, 'symbols');
  const explanation = explain(path, existsSync(folder) ? new Symbols(folder) : undefined);
  if (flags.json) return printJson({ dump: path, ...explanation });
  for (const line of describe(path, explanation)) print(printable(line));
}

async function newestDump(configPath: string | undefined): Promise<string | undefined> {
  const { config } = await findConfig(configPath);
  const folder = dumpFolder(config);
  const [last] = ownDumps(folder);
  if (last === undefined) print(`no crash dump in ${folder}`);
  return last?.path;
}

function explain(path: string, symbols: Symbols | undefined): Explanation {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new NotADump('it is not a regular file');
    if (facts.size > maxBytes) throw new NotADump('it is too large');
    return explainCrash(readMinidump(readFileSync(path)), symbols);
  } catch (error) {
    const why =
      error instanceof NotADump ? `is not a crash dump: ${error.message}` : (error as Error).message;
    throw new CommandError('CORRUPT', `${path}: ${why}`);
  }
}

function describe(path: string, { at, signal, meaning, address, ...found }: Explanation): string[] {
  const { thread, threads, place, callers, builds } = found;
  const named = [place, ...callers].some((one) => one?.function !== undefined);
  return [
    `dump     ${path}`,
    `time     ${at}`,
    `signal   ${signal}${address === undefined ? '' : ` at ${address}`}: ${meaning}`,
    `thread   ${thread}, one of ${threads}`,
    ...(place === undefined ? [] : [`place    ${placeText(place)}`]),
    ...callers.map((one, i) => `${i === 0 ? 'callers' : '       '}  ${placeText(one)}`),
    ...Object.entries(builds).map(([name, id], i) => `${i === 0 ? 'builds' : '      '}   ${name} ${id}`),
    '',
    named
      ? 'Callers are read from the stack and may include old ones; minidump_stackwalk is exact.'
      : 'Functions are named with the symbol files of the release: --symbols FOLDER. See docs/guides/crash-dumps.md.',
  ];
}

function placeText({ module, offset, function: name }: CodePlace): string {
  if (module === undefined) return `${offset}, in no library (code that V8 compiled, or a wild jump)`;
  return name === undefined ? `${module} + ${offset}` : `${name}, ${module} + ${offset}`;
}
