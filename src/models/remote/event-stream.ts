import { StringDecoder } from 'node:string_decoder';

/** Characters of a line, at most. */
const longestLine = 1_048_576;

/** The data of server-sent events, from parts that may be cut anywhere. */
export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #data: string[] = [];

  /** Returns the data of the events that a part completes; undefined for a line without end. */
  push(part: Uint8Array): string[] | undefined {
    const text = this.#decoder.write(part);
    // A line in many parts is looked through once, at its end.
    const lines = text.includes('\n') ? (this.#rest + text).split('\n') : [this.#rest + text];
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > longestLine) return undefined;
    const events: string[] = [];
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text === '') this.#end(events);
      else this.#field(text, events);
    }
    return events;
  }

  /** Returns the last event, which may lack its end. */
  finish(): string[] {
    const events: string[] = [];
    if (this.#rest !== '') this.#field(this.#rest, events);
    this.#end(events);
    return events;
  }

  #field(line: string, events: string[]): void {
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
  }
}
