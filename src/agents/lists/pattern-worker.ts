/** The thread on which patterns are compiled and searched for: neither can be interrupted, and both may take seconds. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { PatternReply, PatternRequest } from './pattern-messages.js';

/** Instructions of all compiled patterns that are kept: some 50 MiB. */
const maxInstructions = 150_000;
/** Counted for a pattern in addition to its instructions. */
const perPattern = 10;

/** Beneath the event loop. Linux alone has priorities of threads. */
const lowPriority = 2;

interface Compiled {
  readonly regex: RE2JS;
  readonly size: number;
}

/** The patterns used last are last. */
const kept = new Map<string, Compiled>();
let instructions = 0;

const port = parentPort;
if (port === null) throw new Error('is the main module of a worker thread');
if (process.platform === 'linux') {
  try {
    setPriority(0, lowPriority);
  } catch {}
}
port.on('message', (request: PatternRequest) => port.postMessage(answer(request)));

function answer({ patterns, text }: PatternRequest): PatternReply {
  const reply = { kind: 'done' as const, sizes: [] as number[], matches: [] as object[] };
  for (const [index, source] of patterns.entries()) {
    let compiled: Compiled;
    try {
      compiled = patternOf(source);
    } catch (error) {
      const reason =
        error instanceof RE2JSSyntaxException ? error.getDescription() : (error as Error).message;
      return { kind: 'refused', index, reason };
    }
    reply.sizes.push(compiled.size);
    if (text === undefined) continue;
    const matcher = compiled.regex.matcher(text);
    if (matcher.find()) reply.matches.push({ index, start: matcher.start(), end: matcher.end() });
  }
  return reply as PatternReply;
}

function patternOf(source: string): Compiled {
  const found = kept.get(source);
  if (found !== undefined) {
    kept.delete(source);
    kept.set(source, found);
    return found;
  }
  const regex = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  const compiled = { regex, size: Math.max(1, regex.programSize()) };
  kept.set(source, compiled);
  instructions += compiled.size + perPattern;
  for (const [oldest, { size }] of kept) {
    if (instructions <= maxInstructions || kept.size === 1) break;
    kept.delete(oldest);
    instructions -= size + perPattern;
  }
  return compiled;
}
