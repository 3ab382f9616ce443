import { StringDecoder } from 'node:string_decoder';

/** Characters of an event, at most: servers send a few tokens in each, and what follows reads one at a time. */
export const longestEvent = 262_144;

/** The data of server-sent events, from parts that may be cut anywhere. */
export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #data: string[] = [];
  #length = 0;

  /** Returns the data of the events that a part completes; undefined for an event that is too long. */
  push(part: Uint8Array): string[] | undefined {
    const text = this.#decoder.write(part);
    // A line in many parts is looked through once, at its end.
    const lines = text.includes('\n') ? (this.#rest + text).split('\n') : [this.#rest + text];
    this.#rest = lines.pop() ?? '';
    const events: string[] = [];
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text === '') this.#end(events);
      else this.#field(text, events);
      if (this.#length > longestEvent) return undefined;
    }
    return this.#length + this.#rest.length > longestEvent ? undefined : events;
  }

  /** Returns the last event, which may lack its end. */
  finish(): string[] {
    const events: string[] = [];
    if (this.#rest !== '') this.#field(this.#rest, events);
    this.#end(events);
    return events;
  }

  #field(line: string, events: string[]): void {
    this.#length += line.length;
    const found = /^\ufeff?(data|error): ?/.exec(line);
    if (found === null) return; // a comment, or a field without use here
    const value = line.slice(found[0].length);
    // llama-server reports a failure in a field of its own.
    if (found[1] === 'error') events.push('{"error":{}}');
    else this.#data.push(value);
  }

  #end(events: string[]): void {
    if (this.#data.length > 0) events.push(this.#data.join('\n'));
    this.#data = [];
    this.#length = 0;
  }
}
