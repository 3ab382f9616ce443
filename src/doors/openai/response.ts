import { randomUUID } from 'node:crypto';
import type { Reply } from './reply.js';

const newId = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '')}`;

/** The fields of a request that its response repeats. */
export interface Asked {
  readonly model: string;
  readonly instructions?: string | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_output_tokens?: number | undefined;
  readonly tools?: readonly unknown[] | undefined;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly text?: object | undefined;
}

/** An item of thinking. */
export class Thought {
  readonly id = newId('rs');
  text = '';
  /** Whether its events have been sent. */
  isClosed = false;

  partOf(text: string) {
    return { type: 'reasoning_text', text };
  }

  item(status: 'in_progress' | 'completed') {
    const content = status === 'completed' ? [this.partOf(this.text)] : [];
    return { id: this.id, type: 'reasoning', summary: [], content, status };
  }
}

/** The thinking of a reply: before its text, and after the text has begun. */
class Thoughts {
  readonly early = new Thought();
  readonly late = new Thought();
  #hasText = false;

  /** Takes a piece of the reply. Returns where a piece of thinking belongs. */
  add(kind: 'reply' | 'thinking', text: string): Thought | undefined {
    if (kind === 'reply') {
      this.#hasText ||= text !== '';
      return undefined;
    }
    const thought = this.#hasText ? this.late : this.early;
    thought.text += text;
    return thought;
  }
}

/** The object of a response in its states. */
export class Response {
  readonly thoughts = new Thoughts();
  readonly #messageId = newId('msg');
  readonly #head: object;

  constructor({
    model,
    instructions,
    temperature,
    top_p,
    max_output_tokens,
    tools,
    tool_choice,
    parallel_tool_calls,
    text,
  }: Asked) {
    this.#head = {
      id: newId('resp'),
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      model,
      instructions: instructions ?? null,
      temperature: temperature ?? null,
      top_p: top_p ?? null,
      max_output_tokens: max_output_tokens ?? null,
      tools: tools ?? [],
      tool_choice: tool_choice ?? 'auto',
      parallel_tool_calls: parallel_tool_calls ?? true,
      text: text ?? { format: { type: 'text' } },
      metadata: {},
      store: false,
      previous_response_id: null,
      error: null,
    };
  }

  get begun(): object {
    return { ...this.#head, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  }

  failed(error: object): object {
    return { ...this.begun, status: 'failed', error };
  }

  completed(reply: Reply): object {
    const cut = reply.finish === 'length';
    const { prompt, cached, completion } = reply.usage;
    return {
      ...this.#head,
      status: cut ? 'incomplete' : 'completed',
      incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
      output: this.output(reply),
      usage: {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: completion,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: prompt + completion,
      },
    };
  }

  output(reply: Reply): object[] {
    const message =
      reply.text === '' && reply.calls.length > 0
        ? []
        : [this.message(textPart(reply), statusOf(reply.finish))];
    const { early, late } = this.thoughts;
    const [before, after] = [early, late].map((thought) =>
      thought.text === '' ? [] : [thought.item('completed')],
    ) as [object[], object[]];
    return [...before, ...message, ...after, ...reply.calls.map(callItem)];
  }

  message(part: object | undefined, status: string) {
    const content = part === undefined ? [] : [part];
    return { id: this.#messageId, type: 'message', role: 'assistant', status, content };
  }
}

export const statusOf = (finish: Reply['finish']) => (finish === 'length' ? 'incomplete' : 'completed');

export const textPart = ({
  text,
  annotations,
  logprobs,
}: Pick<Reply, 'text' | 'annotations' | 'logprobs'>) => ({
  type: 'output_text',
  text,
  annotations: annotations.map((citation) => ({ type: 'url_citation', ...citation })),
  logprobs: logprobs ?? [],
});

export const callItem = ({ id, name, arguments: given }: Reply['calls'][number]) => ({
  id: `fc_${id.slice('call_'.length)}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: given,
});
