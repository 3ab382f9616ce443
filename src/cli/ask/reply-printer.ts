import type { Citation, ServerFrames, TurnEvent } from '../../client/index.js';
import { CommandError } from '../failure.js';
import { print } from '../output.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';

type Complete = ServerFrames['TurnComplete'];

/** Prints a reply while it is written. */
export class ReplyPrinter {
  readonly #screen = new Screen(process.stdout);
  readonly #silent: boolean;
  /** Whether the last printed line is unfinished. */
  #open = false;
  /** Time of the first piece, as performance.now(). */
  firstText: number | undefined;

  constructor({ silent = false }: { silent?: boolean } = {}) {
    this.#silent = silent;
  }

  /** Prints the pieces of a turn, thinking dimmed, and returns its end. */
  async show(events: AsyncIterable<TurnEvent | Complete>): Promise<Complete> {
    let last: 'reply' | 'thinking' | undefined;
    let complete: Complete | undefined;
    try {
      for await (const event of events) {
        if (event.type === 'TurnComplete') complete = event;
        if (event.type !== 'TurnText') continue;
        this.firstText ??= performance.now();
        if (last === 'thinking' && event.kind === 'reply') this.#write('\n');
        last = event.kind;
        const text = event.text.split('\n').map(printable).join('\n');
        this.#write(event.kind === 'thinking' ? this.#screen.dim(text) : text);
      }
    } finally {
      if (this.#open) this.#write('\n');
    }
    if (complete === undefined) throw new Error('the turn has no end');
    const { text, error, action, hits } = complete;
    if (text === '' && error === undefined && action === undefined && hits === undefined)
      this.#write('the agent said nothing\n');
    return complete;
  }

  /** Prints the sources of a reply, its action, and why it was cut. */
  showCitations({ text, citations = [], action, finish }: Complete): void {
    for (const line of citationLines(text, citations)) print(this.#screen.dim(line));
    if (action !== undefined) {
      const { name, arguments: given } = action;
      print(this.#screen.dim(printable(`  action ${name} ${JSON.stringify(given)}`)));
    }
    if (finish === 'length' || finish === 'context' || finish === 'deadline')
      print(this.#screen.dim(`  (cut: ${finish})`));
  }

  #write(text: string): void {
    if (this.#silent || text === '') return;
    this.#open = !text.endsWith('\n');
    process.stdout.write(text);
  }
}

/** One line per source: its mark or quotation, the record's id and storage. The same source twice has one line. */
function citationLines(text: string, citations: readonly Citation[]): string[] {
  const lines = citations.map(({ replyStart, replyEnd, id, storage, kind }) => {
    const part = text.slice(replyStart, replyEnd);
    return printable(`  ${kind === 'mark' ? part : JSON.stringify(part)} ${id} (${storage})`);
  });
  return [...new Set(lines)];
}

/** @throws CommandError for a turn that failed */
export function refuseFailure({ status, error }: Complete): void {
  if (error === undefined) return;
  const { code, name, message, details } = error;
  throw new CommandError('TURN_FAILED', `the turn ${status}: ${message} (${code} ${name})`, {
    detail: { code, name, ...details },
  });
}
