import { Command, CommanderError } from 'commander';
import { packageVersion } from '../files/home.js';
import { shownValue } from '../schema/messages.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { addAsk } from './commands/ask.js';
import { addBuild } from './commands/build.js';
import { addChat } from './commands/chat.js';
import { addCheck } from './commands/check.js';
import { addDoctor } from './commands/doctor.js';
import { addEval } from './commands/eval.js';
import { addIndex } from './commands/index.js';
import { addInit } from './commands/init.js';
import { addInspect } from './commands/inspect.js';
import { addModels } from './commands/models.js';
import { addRun } from './commands/run.js';
import { addSearch } from './commands/search.js';
import { addServe } from './commands/serve.js';
import { addTelemetry } from './commands/telemetry.js';
import { addVerify } from './commands/verify.js';
import { exitStatus, exitStatusHelp } from './exit-status.js';
import { failureReport, failureStatus, UsageError } from './failure.js';
import { printFailure, printJson } from './output.js';

/** Runs one command and sets the process's exit status. Never rejects. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  let program: Command | undefined;
  try {
    program = await createProgram(args);
    refuseUnknownCommand(program, args);
    await program.parseAsync(args[0] === '-v' ? ['--version'] : args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(withUsage(error, program, args), wantsJson(args));
  }
}

/** Defines the commands. A command's code, and with it the addon, is imported when the command runs. */
async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('lorekeep')
    .description('A local agent server that keeps what agents know, and the tools of its knowledge bases.')
    .usage('[command] [options]')
    .version(packageVersion)
    .showSuggestionAfterError(true)
    .exitOverride()
    // Errors arrive as CommanderError and are printed in one place.
    .configureOutput({ outputError: () => {} })
    .addHelpText('after', `\n${exitStatusHelp}\nlorekeep help <command> shows the options of a command.`);
  await addServe(program, args);
  for (const add of [
    addInit,
    addIndex,
    addBuild,
    addCheck,
    addSearch,
    addEval,
    addInspect,
    addAsk,
    addChat,
    addRun,
    addDoctor,
    addModels,
    addTelemetry,
    addVerify,
  ])
    add(program);
  return program;
}

/** Finds a misspelt command: without a command the server starts, so it would look like an extra argument of `serve`. */
function refuseUnknownCommand(program: Command, [first, second]: readonly string[]): void {
  const name = first === 'help' ? second : first;
  if (name === undefined || name.startsWith('-')) return;
  const known = [...program.commands.map((command) => command.name()), 'help'];
  if (known.includes(name)) return;
  const nearest = didYouMean(nearestName(name, known));
  throw new UsageError(`unknown command ${JSON.stringify(name)}${nearest || '; lorekeep --help lists them'}`);
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
  const message = usageMessage(error.message);
  if (/missingArgument|excessArguments/.test(error.code))
    return new UsageError(`${message.replace(/\.$/, '')}; usage: ${names} ${command.usage()}`);
  if (error.code === 'commander.unknownOption' && !message.endsWith('?')) {
    const text = textCommands.has(command.name()) ? '; put -- before a text that begins with -' : '';
    const hint = meantFlag(message, command) ?? `; ${names} --help lists the flags${text}`;
    return new UsageError(`${message}${hint}`);
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

/** The hint for flags that commander finds nothing near to: `-json`, `--topK`, `--conf`. */
function meantFlag(message: string, command: Command): string | undefined {
  const given = /'-+([^'=]+)/.exec(message)?.[1];
  if (given === undefined || given.length < 2) return undefined;
  const wanted = given.replace(/(?<=[a-z])(?=[A-Z])|_/g, '-').toLowerCase();
  const flags = command.createHelp().visibleOptions(command);
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
    return report(new UsageError(usageMessage(error.message)), json);
  }
  printFailure(error);
  if (json) printJson(failureReport(error));
  return failureStatus(error);
}

/** Returns commander's `error: unknown option '--tp'\n(Did you mean --top-k?)` as one line. */
function usageMessage(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\?\)$/s, '; did you mean $1?')
    .replaceAll('\n', ' ');
  return invalidValue(text) ?? text;
}

/** Returns commander's `option '--top-k <n>' argument '0' is invalid. REASON` as a message names a field's value. */
function invalidValue(message: string): string | undefined {
  const match = /^option '(?:.*, )?(--[^ ']+)[^']*' argument '(.*)' is invalid\. (.*)$/.exec(message);
  if (match === null) return undefined;
  const [flag, value, reason] = match.slice(1) as [string, string, string];
  const choices = /^Allowed choices are (.*)\.$/.exec(reason)?.[1];
  const expected = choices === undefined ? reason : `one of ${choices} is expected`;
  const nearest = didYouMean(nearestName(value, choices?.split(', ') ?? []));
  return `${flag}: ${expected}, not ${shownValue(value)}${nearest}`;
}
