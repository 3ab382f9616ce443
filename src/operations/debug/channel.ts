import { z } from 'zod';
import { type CrashKind, type CrashThread, forcedCrashes } from '../../../lib/internal.js';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { setLogLevel } from '../../log/log.js';
import { fail } from '../../protocol/errors.js';
import { type DebugCommandResponse, debugRequestSchema, debugRequestType } from './frames.js';
import type { DebugTarget } from './target.js';

const longestPauseMs = 60_000;

const kinds = [
  'segmentation-fault',
  'stack-overflow',
  'abort',
  'exception',
] as const satisfies readonly CrashKind[];
const threads = ['calling', 'pool', 'inference'] as const satisfies readonly CrashThread[];

interface Command<Args extends z.ZodType = z.ZodType> {
  about: string;
  args: Args;
  run(args: z.output<Args>, channel: DebugChannel): unknown;
}

const command = <Args extends z.ZodType>(one: Command<Args>) => one as unknown as Command;
const none = z.strictObject({});

/** By name. */
const commands: Record<string, Command> = {
  commands: command({
    about: 'lists the commands',
    args: none,
    run: () => Object.entries(commands).map(([name, { about }]) => ({ name, about })),
  }),
  scheduler: command({
    about: 'counts of the inference scheduler',
    args: none,
    run: (_, { target }) => target.scheduler(),
  }),
  language_models: command({
    about: 'loaded language models: cells of the KV cache, kept prefixes, requests',
    args: none,
    run: (_, { target }) => target.languageModels(),
  }),
  storages: command({
    about: 'file storages: state, pins, bytes',
    args: none,
    run: (_, { target }) => target.storages(),
  }),
  budgets: command({
    about: 'memory held for clients, by client and kind, and its limits',
    args: none,
    run: (_, { target }) => target.budgets(),
  }),
  evict: command({
    about: 'closes all file storages that nobody pins',
    args: none,
    run: async (_, { target }) => ({ evicted: await target.evict() }),
  }),
  pause: command({
    about: 'throttles inference to `level` (0 to 1, default 1) for `ms`',
    args: z.strictObject({
      ms: z.int().min(1).max(longestPauseMs),
      level: z.number().min(0).max(1).default(1),
    }),
    run: ({ ms, level }, channel) => channel.pause(ms, level),
  }),
  log_level: command({
    about: 'sets the level of the log until the server stops',
    args: z.strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error']) }),
    run: ({ level }, { target: { log } }) => {
      const before = log.level;
      setLogLevel(log, level);
      return { level, before };
    },
  }),
  crash: command({
    about: 'crashes the server, to test crash dumps',
    args: z.strictObject({
      kind: z.enum(kinds).default('segmentation-fault'),
      thread: z.enum(threads).default('calling'),
    }),
    // After the reply.
    run: async ({ kind, thread }) => {
      const { forcedCrash } = await forcedCrashes();
      const crash = forcedCrash(kind, thread);
      setImmediate(() => setImmediate(crash));
      return { kind, thread };
    },
  }),
};

/** Serves DebugCommandRequest. Exists only in the development edition, with `debug_commands.enabled`. */
export class DebugChannel {
  readonly target: DebugTarget;
  #pause: NodeJS.Timeout | undefined;

  constructor(target: DebugTarget) {
    this.target = target;
  }

  /** The request type that this channel serves. */
  readonly type: string = debugRequestType;

  /** Runs a command. `checkSession` throws for a session that is not the client's. @throws InvalidField */
  async serve(object: object, checkSession: (id: string) => void): Promise<DebugCommandResponse> {
    const request = parse(debugRequestSchema, object, '');
    checkSession(request.session_id);
    const known = Object.keys(commands);
    if (!known.includes(request.command)) {
      const nearest = nearestName(request.command, known);
      const shown = JSON.stringify(request.command.slice(0, 64));
      const message = `command: ${shown} is not a debug command${didYouMean(nearest)}`;
      fail(1004, message, nearest === undefined ? { path: 'command' } : { path: 'command', nearest });
    }
    const chosen = commands[request.command] as Command;
    const args = parse(chosen.args, request.args, 'args.');
    this.target.log.warn({ command: request.command }, 'debug command');
    return { type: 'DebugCommandResponse', result: await chosen.run(args, this) };
  }

  /** Throttles inference for a time. A further pause replaces the one under way. */
  pause(ms: number, level: number): { level: number; ms: number } {
    clearTimeout(this.#pause);
    this.target.throttle(level);
    this.#pause = setTimeout(() => this.target.throttle(0), ms).unref();
    return { level, ms };
  }
}

/** @throws InvalidField with the path */
function parse<Schema extends z.ZodType>(schema: Schema, value: object, above: string): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const issue = fieldIssue(schema, value, parsed.error);
  const path = `${above}${issue.path}`;
  const { nearest } = issue;
  fail(1004, describeIssue({ ...issue, path }), nearest === undefined ? { path } : { path, nearest });
}
