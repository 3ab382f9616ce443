import { createHash, randomInt } from 'node:crypto';
import { onAbort } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { remoteDevice } from '../opener.js';
import type { ChatMessage, GenerateRequest, Generation, GenerationResult, TextModel } from '../text-model.js';
import { chatChunk } from './chat-chunk.js';
import { chatBody, lackedOptions } from './chat-request.js';
import { elsewhere } from './elsewhere.js';
import { EventStream, longestEvent } from './event-stream.js';
import { RemoteModelError } from './remote-model-error.js';
import type { RemoteServer } from './remote-server.js';
import { Reply } from './reply.js';
import { StopTexts } from './stop-texts.js';
import { estimatedTokens } from './token-estimate.js';

const defaultMaxTokens = 1024;
/** Tokens that a chat template adds to a message. */
const tokensPerMessage = 8;
/** Bytes of the event of a token, and of an alternative in it. */
const bytesPerEvent = 1024;
const bytesPerAlternative = 256;
const otherBytes = 1_048_576;
/** The longest time of a reply, however steadily it comes. */
const longestReplyMs = 3_600_000;

type Rendered = Awaited<ReturnType<TextModel['render']>>;

/** A language model that another server computes. Its tokens are estimated. */
export class RemoteLanguageModel implements TextModel {
  readonly facts: TextModel['facts'];
  readonly #server: RemoteServer;
  readonly #messages = new WeakMap<Rendered, readonly ChatMessage[]>();

  constructor(server: RemoteServer, contextSize: number) {
    const { model, revision = '', api } = server.settings;
    const identity = JSON.stringify(['remote', model, revision]);
    this.#server = server;
    this.facts = {
      architecture: 'remote',
      contextSize,
      trainedContextSize: contextSize,
      fingerprint: createHash('sha256').update(identity).digest('hex').slice(0, 16),
      device: remoteDevice,
      runtime: api,
      chatTemplate: true,
      thinking: false,
      lacks: lackedOptions(api),
    };
  }

  /** Estimates the number of tokens. */
  async countTokens(text: string): Promise<number> {
    return estimatedTokens(text);
  }

  /** Keeps the messages for generate(); the server renders them. The tokens are an estimated number of zeros. */
  async render(messages: readonly ChatMessage[]): Promise<Rendered> {
    const messageTokens = messages.map(({ content }) => estimatedTokens(content) + tokensPerMessage);
    const tokens = new Int32Array(messageTokens.reduce((sum, count) => sum + count, 0));
    const parts = messages.map(({ content: text }, message) => ({ text, input: true, message }));
    const rendered = { tokens, parts, messageTokens };
    this.#messages.set(rendered, messages);
    return rendered;
  }

  /** As LanguageModel.generate(). The result rejects with RemoteModelError, CLOSED. */
  generate(request: GenerateRequest, { signal }: { signal?: AbortSignal } = {}): Generation {
    const messages = this.#messagesOf(request);
    const stop = new AbortController();
    const reply = new Reply(() => stop.abort('cancelled'));
    const stopListening = onAbort(signal, () => stop.abort('cancelled'));
    if (signal?.aborted) stop.abort('cancelled');
    const late = setTimeout(
      () => stop.abort(request.deadlineMs === undefined ? 'late' : 'deadline'),
      Math.min(request.deadlineMs ?? longestReplyMs, longestReplyMs),
    );
    const result = this.#reply(messages, request, reply, stop).finally(() => {
      clearTimeout(late);
      stopListening();
    });
    result.then(
      () => reply.end({}),
      (error: unknown) => reply.end({ error }),
    );
    return { result, cancel: () => stop.abort('cancelled'), [Symbol.asyncIterator]: () => reply };
  }

  close(failing?: LorekeepError): Promise<void> {
    return this.#server.close(failing);
  }

  #messagesOf({ prompt, messages }: GenerateRequest): readonly ChatMessage[] {
    if (messages !== undefined) return messages;
    if (typeof prompt === 'string') return [{ role: 'user', content: prompt }];
    const found = this.#messages.get(prompt as Rendered);
    if (found !== undefined) return found;
    const reason = 'messages, a text, or what this model rendered is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'prompt', reason });
  }

  async #reply(
    messages: readonly ChatMessage[],
    request: GenerateRequest,
    reply: Reply,
    stop: AbortController,
  ): Promise<GenerationResult> {
    const { maxTokens = defaultMaxTokens, seed = randomInt(2 ** 31), schema } = request;
    const body = chatBody(this.#server.settings, messages, request, { maxTokens, seed });
    const alternatives = request.logprobs === undefined ? 0 : request.logprobs + 1;
    const maxBytes = maxTokens * (bytesPerEvent + alternatives * bytesPerAlternative) + otherBytes;
    const stops = new StopTexts(request.stop ?? []);
    const events = new EventStream();
    const take = (part: Uint8Array) => {
      const data = events.push(part);
      if (data === undefined) throw this.#malformed(`with an event of more than ${longestEvent} characters`);
      return this.#take(data, reply, stops);
    };
    try {
      stop.signal.throwIfAborted();
      await elsewhere(this.#server, stop.signal, () => {
        reply.begins();
        return this.#server.stream('/chat/completions', body, { maxBytes, signal: stop.signal }, take);
      });
      if (!stops.found && this.#take(events.finish(), reply, stops) && reply.finish === undefined)
        throw this.#malformed('with a reply that breaks off; nothing of it is taken');
    } catch (error) {
      const why = stop.signal.aborted ? stop.signal.reason : undefined;
      if (why !== 'cancelled' && why !== 'deadline') throw this.#explained(error, why);
      reply.finish = why;
    }
    reply.text(stops.finish());
    if (schema !== undefined && reply.finish === 'stop' && !isJson(reply.whole))
      throw this.#malformed('with text instead of JSON: it ignores json_schema');
    return reply.result(seed);
  }

  /** Takes events. Returns whether more are wanted. */
  #take(events: readonly string[], reply: Reply, stops: StopTexts): boolean {
    for (const data of events) {
      if (data === '[DONE]') return false;
      const chunk = chatChunk(data);
      if (chunk === undefined) throw this.#malformed('with an event that is not JSON');
      if (chunk.failed) throw new RemoteModelError('busy', this.#server, 'reports a failure in the reply');
      reply.usage = chunk.usage ?? reply.usage;
      reply.think(chunk.thinking);
      reply.text(stops.push(chunk.text), chunk.logprobs);
      if (stops.found) {
        reply.finish = 'stop_string';
        return false;
      }
      reply.finish = chunk.finish ?? reply.finish;
    }
    return true;
  }

  #explained(error: unknown, why: unknown): unknown {
    if (why !== 'late') return error;
    return new RemoteModelError(
      'timeout',
      this.#server,
      `does not end its reply within ${longestReplyMs} ms`,
    );
  }

  #malformed(problem: string): RemoteModelError {
    return new RemoteModelError('malformed', this.#server, `answers ${problem}`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
