import { resolve } from 'node:path';
import { samplingOptions } from '../../../lib/basics.js';
import {
  type ChatMessage,
  type GenerateRequest,
  type GenerationResult,
  LanguageModel,
  type Sampling,
} from '../../../lib/internal.js';
import { PiecePrinter } from '../ask/reply-printer.js';
import { CommandError, UsageError } from '../failure.js';
import { givenOptions } from '../flags/options.js';
import { interruptible } from '../interrupt.js';
import { note, printJson } from '../output.js';
import { textArgument } from '../search/json-argument.js';
import { printable } from '../terminal/printable.js';

export interface RunFlags extends Sampling {
  system?: string;
  raw?: boolean;
  maxTokens: number;
  contextSize?: number;
  seed?: number;
  threads: number;
  runtime?: 'auto' | 'llama.cpp' | 'decoder';
  stats?: boolean;
  json?: boolean;
}

/** `lorekeep run`: generates text with a model file, without a server. */
export async function run(file: string, given: string | undefined, flags: RunFlags): Promise<void> {
  if (flags.raw && flags.system !== undefined)
    throw new UsageError('--raw: a prompt without the chat template has no system text; leave --system out');
  const prompt = given ?? (await readInput());
  if (prompt.trim() === '') throw new UsageError('the prompt is empty; give it as an argument or on stdin');
  const system = flags.system === undefined ? undefined : await textArgument('--system', flags.system);
  await interruptible(async (signal) => {
    const { contextSize, threads, runtime, json } = flags;
    const options = { contextSize, threads, runtime, signal };
    await using model = await announced(file, LanguageModel.load(resolve(file), options));
    if (!model.facts.chatTemplate && !flags.raw)
      note(
        'lorekeep: the model has no chat template; it continues the prompt as it is (--raw hides this note)',
      );
    const { tokenizerNote, templateNote } = model.facts;
    for (const each of [tokenizerNote, flags.raw ? '' : templateNote])
      if (each !== '') note(`lorekeep: ${each}`);
    const request = requestOf(model, prompt, system, flags);
    const result = await show(model, request, signal, json === true);
    if (json) printJson(shown(result));
    if (flags.stats) note(`${statsLine(result)}; ${model.facts.runtime}`);
    // The text so far is printed; the status shows the interruption.
    signal.throwIfAborted();
  });
}

/** Says on a terminal what a load that takes more than a second is about. */
async function announced(file: string, load: Promise<LanguageModel>): Promise<LanguageModel> {
  const timer = setTimeout(() => {
    note(
      `lorekeep: loading ${printable(file)}; its first load on a machine measures which runtime is faster`,
    );
  }, 1000);
  if (!process.stderr.isTTY) clearTimeout(timer);
  try {
    return await load;
  } finally {
    clearTimeout(timer);
  }
}

function requestOf(
  model: LanguageModel,
  prompt: string,
  system: string | undefined,
  flags: RunFlags,
): GenerateRequest {
  const { raw, maxTokens, seed } = flags;
  const settings = {
    maxTokens,
    ...(seed !== undefined && { seed }),
    sampling: givenOptions(samplingOptions, flags),
  };
  if (raw || !model.facts.chatTemplate)
    return { prompt: [system, prompt].filter(Boolean).join('\n\n'), ...settings };
  const messages: ChatMessage[] = [{ role: 'user', content: prompt }];
  if (system !== undefined) messages.unshift({ role: 'system', content: system });
  return { messages, ...settings };
}

/** Prints the pieces of a reply, thinking dimmed. */
async function show(
  model: LanguageModel,
  request: GenerateRequest,
  signal: AbortSignal,
  silent: boolean,
): Promise<GenerationResult> {
  const pieces = new PiecePrinter(silent);
  const generation = model.generate(request, { signal });
  generation.result.catch(() => {});
  for await (const { kind, text } of generation) pieces.add(text, kind === 'thinking');
  pieces.end();
  return generation.result;
}

function shown({ text, thinking, finish, usage, timing, seed }: GenerationResult) {
  return { text, ...(thinking !== '' && { thinking }), finish, usage, timing, seed };
}

function statsLine({ usage, timing, finish, seed }: GenerationResult): string {
  const { prompt, cached, completion } = usage;
  const rate = timing.decodeMs > 0 ? ((1000 * (completion - 1)) / timing.decodeMs).toFixed(1) : '0';
  const parts = [
    `prompt ${prompt} tokens (${cached} cached) in ${Math.round(timing.prefillMs)} ms`,
    `reply ${completion} tokens, ${rate} tokens/s`,
    `finish ${finish}`,
    `seed ${seed}`,
  ];
  return parts.join('; ');
}

/** Reads stdin to its end. @throws UsageError on a terminal, which has no end */
async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new UsageError('a prompt is expected, as an argument or on stdin');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxInput)
      throw new CommandError('TEXT_TOO_LONG', `stdin: at most ${maxInput} bytes are expected`);
    chunks.push(chunk as Buffer);
  }
  // The decoder drops a byte order mark.
  return new TextDecoder().decode(Buffer.concat(chunks)).trimEnd();
}

/** Longest prompt from stdin, in bytes. */
const maxInput = 16 * 1024 * 1024;
