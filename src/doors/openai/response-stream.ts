import type { Exchange } from '../http/exchange.js';
import type { FieldNames } from '../http/failure.js';
import type { TokenLogprobs } from './logprobs.js';
import { makeReply, type Reply, type ReplyRequest, streamError } from './reply.js';
import { callItem, type Response, statusOf, type Thought, textPart } from './response.js';
import type { Targets } from './targets.js';

interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

const noText = { text: '', annotations: [], logprobs: undefined };

/** The events of a streamed response. */
export class ResponseStream {
  readonly #exchange: Exchange;
  readonly #response: Response;
  readonly #fieldNames: FieldNames;
  /** Places of the items, by id. */
  readonly #indexes = new Map<string, number>();
  #sequence = 0;

  constructor(exchange: Exchange, response: Response, fieldNames: FieldNames) {
    this.#exchange = exchange;
    this.#response = response;
    this.#fieldNames = fieldNames;
  }

  async run(targets: Targets, request: ReplyRequest): Promise<void> {
    const exchange = this.#exchange;
    try {
      const reply = await makeReply(exchange, targets, request, (kind, text, tokens) => {
        const thought = this.#response.thoughts.add(kind, text);
        if (thought === undefined) this.#text(text, tokens);
        else this.#think(thought, text);
      });
      this.#end(reply);
    } catch (thrown) {
      if (!exchange.hasBegun) throw thrown;
      const { error } = streamError(thrown, exchange, this.#fieldNames) as {
        error: { code: string; message: string };
      };
      const { code, message } = error;
      this.#send('response.failed', { response: this.#response.failed({ code, message }) });
    }
    await exchange.endEvents();
  }

  #begin(): void {
    if (this.#exchange.hasBegun) return;
    this.#exchange.beginEvents();
    this.#send('response.created', { response: this.#response.begun });
    this.#send('response.in_progress', { response: this.#response.begun });
  }

  /** Begins an item, unless it has begun. */
  #open(item: Item, part?: object): void {
    if (this.#indexes.has(item.id)) return;
    this.#begin();
    this.#indexes.set(item.id, this.#indexes.size);
    this.#send('response.output_item.added', { output_index: this.#indexOf(item.id), item });
    if (part !== undefined) this.#send('response.content_part.added', { ...this.#placeOf(item.id), part });
  }

  #close(item: Item): void {
    this.#send('response.output_item.done', { output_index: this.#indexOf(item.id), item });
  }

  #indexOf(id: string): number {
    return this.#indexes.get(id) as number;
  }

  #placeOf(id: string) {
    return { item_id: id, output_index: this.#indexOf(id), content_index: 0 };
  }

  #think(thought: Thought, delta: string): void {
    this.#open(thought.item('in_progress'), thought.partOf(''));
    this.#send('response.reasoning_text.delta', { ...this.#placeOf(thought.id), delta });
  }

  #endThinking(thought: Thought): void {
    const { id, text, isClosed } = thought;
    if (text === '' || isClosed) return;
    thought.isClosed = true;
    this.#send('response.reasoning_text.done', { ...this.#placeOf(id), text });
    this.#send('response.content_part.done', { ...this.#placeOf(id), part: thought.partOf(text) });
    this.#close(thought.item('completed'));
  }

  #openText(): string {
    this.#endThinking(this.#response.thoughts.early);
    const message = this.#response.message(undefined, 'in_progress');
    this.#open(message, textPart(noText));
    return message.id;
  }

  #text(delta: string, logprobs: readonly TokenLogprobs[] = []): void {
    const id = this.#openText();
    this.#send('response.output_text.delta', { ...this.#placeOf(id), delta, logprobs });
  }

  #end(reply: Reply): void {
    this.#begin();
    const { early, late } = this.#response.thoughts;
    const { text, calls, finish } = reply;
    this.#endThinking(early);
    if (text !== '' || calls.length === 0) {
      const place = this.#placeOf(this.#openText());
      const part = textPart(reply);
      for (const [annotation_index, annotation] of part.annotations.entries())
        this.#send('response.output_text.annotation.added', { ...place, annotation_index, annotation });
      this.#send('response.output_text.done', { ...place, text, logprobs: part.logprobs });
      this.#send('response.content_part.done', { ...place, part });
      this.#close(this.#response.message(part, statusOf(finish)));
    }
    this.#endThinking(late);
    for (const call of calls) this.#call(callItem(call));
    const name = finish === 'length' ? 'response.incomplete' : 'response.completed';
    this.#send(name, { response: this.#response.completed(reply) });
  }

  #call(item: ReturnType<typeof callItem>): void {
    this.#open({ ...item, status: 'in_progress', arguments: '' });
    const place = { item_id: item.id, output_index: this.#indexOf(item.id) };
    this.#send('response.function_call_arguments.delta', { ...place, delta: item.arguments });
    this.#send('response.function_call_arguments.done', {
      ...place,
      name: item.name,
      arguments: item.arguments,
    });
    this.#close(item);
  }

  #send(type: string, fields: object): void {
    this.#exchange.sendEvent({ type, sequence_number: this.#sequence++, ...fields }, type);
  }
}
