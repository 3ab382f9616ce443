import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { packageVersion } from '../base/files/home.js';
import { shownValue } from '../base/schema/messages.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { addAsk } from './commands/ask.js';
import { addBuild } from './commands/build.js';
import { addChat } from './commands/chat.js';
import { addCheck } from './commands/check.js';
import { addDoctor } from './commands/doctor.js';
import { addEval } from './commands/eval.js';
import { addIndex } from './commands/index.js';
import { addIndexes } from './commands/indexes.js';
import { addInit } from './commands/init.js';
import { addListen } from './commands/listen.js';
import { addMcp } from './commands/mcp.js';
import { addModels } from './commands/models.js';
import { addOpen } from './commands/open.js';
import { addRecordCommands } from './commands/records.js';
import { addRun } from './commands/run.js';
import { addSearch } from './commands/search.js';
import { addServe } from './commands/serve.js';
import { addTelemetry } from './commands/telemetry.js';
import { addTranscribe } from './commands/transcribe.js';
import { addTransferCommands } from './commands/transfer.js';
import { exitStatus, exitStatusHelp } from './exit-status.js';
import { failureReport, failureStatus, UsageError } from './failure.js';
import { printFailure, printJsonLine } from './output.js';

/** Runs one command and sets the process's exit status. Never rejects. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  let program: Command | undefined;
  try {
    program = await createProgram(args);
    refuseFormerCommand(args);
    refuseUnknownCommand(program, args);
    await program.parseAsync(args[0] === '-v' ? ['--version'] : args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(withUsage(error, program, args), wantsJson(args));
  }
}

/** Defines the commands. A command's code, and with it the addon, is imported when the command runs. */
async function createProgram(args: readonly string[]): Promise<Command> {
  const program: Command = new Command('lorekeep')
    .description('A local agent server that keeps what agents know, and the tools of its knowledge bases.')
    .usage('[command] [options]')
    .version(packageVersion)
    .showSuggestionAfterError(false)
    .option(
      '--data-dir <folder>',
      'folder for models, logs, dumps, settings and indexes that no config places; every command knows it [LOREKEEP_STATE]',
    )
    .hook('preAction', () => useDataFolder(program.opts<{ dataDir?: string }>().dataDir))
    .exitOverride()
    // Errors arrive as CommanderError and are printed in one place.
    .configureOutput({ outputError: () => {} })
    .addHelpText('after', `\n${exitStatusHelp}\nlorekeep help <command> shows the options of a command.`);
  await addServe(program, args);
  for (const add of [
    addInit,
    addIndex,
    addIndexes,
    addBuild,
    addCheck,
    addSearch,
    addEval,
    addRecordCommands,
    addTransferCommands,
    addAsk,
    addChat,
    addMcp,
    addOpen,
    addRun,
    addTranscribe,
    addListen,
    addDoctor,
    addModels,
    addTelemetry,
  ])
    add(program);
  nameFlagsInErrors(program);
  return program;
}

/** Has this process, and those that it starts, keep their files in the folder of `--data-dir`. @throws UsageError */
function useDataFolder(folder: string | undefined): void {
  if (folder === undefined) return;
  const expected = (found: string) => new UsageError(`--data-dir: a folder is expected, not ${found}`);
  if (folder === '') throw expected('an empty text');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw expected(`the file ${folder}`);
  process.env.LOREKEEP_STATE = resolve(folder);
}

/** Command lines of earlier builds, and the ones that do the same now. */
const formerCommands: readonly [RegExp, string][] = [
  [/^(help )?inspect\b/, 'lorekeep check FILE'],
  [/^(help )?verify\b/, 'lorekeep check [--model NAME]'],
  [/^models verify\b/, 'lorekeep check [--model NAME]'],
  [/^doctor( .*)? --last-crash\b/, 'minidump_stackwalk DUMP SYMBOLS (docs/guides/diagnostics.md)'],
  [/^doctor [^-]/, 'lorekeep check KB --recall'],
];

function refuseFormerCommand(args: readonly string[]): void {
  const line = args.join(' ');
  const now = formerCommands.find(([former]) => former.test(line))?.[1];
  if (now !== undefined) throw new UsageError(`this command is gone; use ${now}`);
}

/** Finds a misspelt command: without a command the server starts, so it would look like an extra argument of `serve`. */
function refuseUnknownCommand(program: Command, args: readonly string[]): void {
  const words = args[0] === 'help' ? args.slice(1) : args;
  let command = program;
  for (const [index, name] of words.entries()) {
    if (name.startsWith('-') || name === 'help' || command.commands.length === 0) return;
    const next = command.commands.find((each) => each.name() === name);
    if (next === undefined) throw unknownCommand(command, words.slice(0, index), name);
    command = next;
  }
}

/** `before`: the names of the command above, as they were given. */
function unknownCommand(above: Command, before: readonly string[], name: string): UsageError {
  const full = (last: string) => [...before, last].join(' ');
  const known = [...above.commands.map((command) => command.name()), 'help'];
  const nearest = nearestName(name, known);
  const hint =
    nearest === undefined
      ? `; ${['lorekeep', ...before].join(' ')} --help lists them`
      : didYouMean(full(nearest));
  return new UsageError(`unknown command ${JSON.stringify(full(name))}${hint}`);
}

/** Whether `--json` was given, even on a command line that could not be parsed. Arguments after `--` are not flags. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).includes('--json');
}

/**
 * Adds the command's usage to an error about a missing or surplus argument, and the nearest flag to one about an unknown
 * flag.
 */
function withUsage(error: unknown, program: Command | undefined, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError) || program === undefined) return error;
  const { command, names } = commandOf(program, args);
  if (error.code === 'commander.missingArgument' || error.code === 'commander.excessArguments')
    return new UsageError(`${messageOf(error).replace(/\.$/, '')}; usage: ${names} ${command.usage()}`);
  if (error.code === 'commander.unknownOption') {
    // Options of every command are none of this one's.
    const { unknown } = program.parseOptions([...args]);
    const flag = command.parseOptions(unknown).unknown[0] ?? '';
    const text = textCommands.has(command.name()) ? '; put -- before a text that begins with -' : '';
    const hint = meantFlag(flag, [command, program]) ?? `; ${names} --help lists the flags${text}`;
    return new UsageError(`unknown option '${flag}'${hint}`);
  }
  return error;
}

/** Commands with a text that may begin like a flag, such as an excluded word. */
const textCommands: ReadonlySet<string> = new Set(['search', 'ask']);

/** The command that `args` name, `serve` if they name none, and how it is called. */
function commandOf(program: Command, args: readonly string[]): { command: Command; names: string } {
  let command = program;
  let names = program.name();
  for (const name of args[0]?.startsWith('-') ? ['serve'] : args) {
    const next = command.commands.find((each) => each.name() === name);
    if (next === undefined) break;
    command = next;
    names = `${names} ${name}`;
  }
  return { command, names };
}

/** The hint for an unknown flag: `-json`, `--topK`, `--conf=x`. */
function meantFlag(flag: string, commands: readonly Command[]): string | undefined {
  const [given = ''] = flag.replace(/^-+/, '').split('=');
  if (given.length < 2) return undefined;
  const wanted = given.replace(/(?<=[a-z])(?=[A-Z])|_/g, '-').toLowerCase();
  const flags = commands.flatMap((command) => command.createHelp().visibleOptions(command));
  const known = flags.flatMap(({ long }) => (long ? [long.slice(2)] : []));
  const begins = known.filter((name) => name.startsWith(wanted));
  const nearest = begins.length === 1 ? begins[0] : nearestName(wanted, known);
  return nearest === undefined ? undefined : `; did you mean --${nearest}?`;
}

function report(error: unknown, json: boolean): number {
  if (error instanceof CommanderError) {
    // commander has printed the help or the version.
    if (error.exitCode === 0) return exitStatus.done;
    if (error.code === 'commander.help') return exitStatus.usage;
    return report(new UsageError(messageOf(error)), json);
  }
  printFailure(error);
  if (json) printJsonLine(failureReport(error));
  return failureStatus(error);
}

/** Commander begins its messages with `error: `, as printFailure() does. */
const messageOf = ({ message }: CommanderError) => message.replace(/^error: /, '');

/** Has the parsers of a command's options name flag, expectation and value, as other errors about values do. */
function nameFlagsInErrors(command: Command): void {
  for (const option of command.options) {
    const { parseArg, argChoices } = option;
    if (parseArg === undefined) continue;
    option.argParser((value, previous) => {
      try {
        return parseArg(value, previous);
      } catch (error) {
        if (!(error instanceof InvalidArgumentError)) throw error;
        const expected = argChoices ? `one of ${argChoices.join(', ')} is expected` : error.message;
        const nearest = didYouMean(nearestName(value, argChoices ?? []));
        throw new UsageError(`${option.long}: ${expected}, not ${shownValue(value)}${nearest}`);
      }
    });
  }
  for (const each of command.commands) nameFlagsInErrors(each);
}
