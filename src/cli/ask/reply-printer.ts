import { counted } from '../../base/schema/counted.js';
import type { ForgetProposal, ServerFrames, TurnEvent } from '../../client/index.js';
import type { FolderOf } from '../../search/record-place.js';
import { CommandError } from '../failure.js';
import { print } from '../output.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import type { LoadingNote } from './loading-note.js';
import { quoteLines, sourceLines } from './sources.js';

type Complete = ServerFrames['TurnComplete'];

/** Printed in place of an empty reply of an agent that quotes. */
export const noSentence = 'no sentence of the records answers this';

/** Prints the pieces of a text, thinking dimmed. */
export class PiecePrinter {
  readonly screen = new Screen(process.stdout);
  readonly #silent: boolean;
  /** Whether the last printed line is unfinished. */
  #open = false;
  #thinks = false;

  constructor(silent: boolean) {
    this.#silent = silent;
  }

  add(text: string, isThinking: boolean): void {
    if (this.#thinks && !isThinking) this.#write('\n');
    this.#thinks = isThinking;
    const safe = text.split('\n').map(printable).join('\n');
    this.#write(isThinking ? this.screen.dim(safe) : safe);
  }

  /** Ends the last line. */
  end(): void {
    if (this.#open) this.#write('\n');
  }

  #write(text: string): void {
    if (this.#silent || text === '') return;
    this.#open = !text.endsWith('\n');
    process.stdout.write(text);
  }
}

interface PrinterOptions {
  /** Prints nothing. */
  silent?: boolean;
  /** Explains a long wait for the first text. */
  loading?: LoadingNote;
  /** Default: paths are shown as they are in the records. */
  folderOf?: FolderOf;
  /** Asks the user what may be forgotten. */
  forget?: (proposal: ForgetProposal) => Promise<void>;
}

/** Prints a reply while it is written. */
export class ReplyPrinter {
  readonly #pieces: PiecePrinter;
  readonly #loading: LoadingNote | undefined;
  readonly #folderOf: FolderOf;
  readonly #forget: NonNullable<PrinterOptions['forget']>;
  /** Time of the first piece, as performance.now(). */
  firstText: number | undefined;

  constructor({
    silent = false,
    loading,
    folderOf = () => undefined,
    forget = async () => {},
  }: PrinterOptions = {}) {
    this.#forget = forget;
    this.#pieces = new PiecePrinter(silent);
    this.#loading = loading;
    this.#folderOf = folderOf;
  }

  /** Prints the pieces of a turn and returns its end. */
  async show(events: AsyncIterable<TurnEvent | Complete>): Promise<Complete> {
    let complete: Complete | undefined;
    const loaded = this.#loading?.start();
    try {
      for await (const event of events) {
        if (event.type === 'TurnComplete') complete = event;
        if (event.type === 'TurnForget') {
          this.#pieces.end();
          await this.#forget(event);
        }
        if (event.type !== 'TurnText') continue;
        loaded?.();
        this.firstText ??= performance.now();
        this.#pieces.add(event.text, event.kind === 'thinking');
      }
    } finally {
      loaded?.();
      this.#pieces.end();
    }
    if (complete === undefined) throw new Error('the turn has no end');
    const { text, error, action, hits, memory } = complete;
    const shown = [error, action, hits, memory].some((part) => part !== undefined);
    if (text === '' && !shown) this.#pieces.add('the agent said nothing\n', false);
    return complete;
  }

  /** Prints a reply of quotations, each with its place, instead of the text. */
  showQuotes({ text, citations = [] }: Complete): void {
    for (const line of quoteLines(text, citations, this.#pieces.screen, this.#folderOf)) print(line);
  }

  /** Prints the sources of a reply, its action, and why it was cut. */
  showSources({ sources = [], action, memory = [], finish }: Complete): void {
    const { screen } = this.#pieces;
    for (const line of sourceLines(sources, screen.width, this.#folderOf)) print(screen.dim(line));
    if (action !== undefined) {
      const { name, arguments: given } = action;
      print(screen.dim(printable(`  action ${name} ${JSON.stringify(given)}`)));
    }
    for (const line of memory.flatMap(memoryLines)) print(screen.dim(printable(line)));
    if (finish === 'length' || finish === 'context' || finish === 'deadline')
      print(screen.dim(`  (cut: ${finish})`));
  }
}

/** What a turn changed in a memory. What was said is remembered in each turn, so only what the agent decided is shown. */
function memoryLines({ forgotten, forget }: NonNullable<Complete['memory']>[number]): string[] {
  if (forgotten.length > 0) return [`  forgotten: ${counted(forgotten.length, 'record')}`];
  return forget === undefined ? [] : [`  nothing is forgotten (${forget})`];
}

/** @throws CommandError for a turn that failed */
export function refuseFailure({ status, error }: Complete): void {
  if (error === undefined) return;
  const { code, name, message, details } = error;
  throw new CommandError('TURN_FAILED', `the turn ${status}: ${message} (${code} ${name})`, {
    detail: { code, name, ...details },
  });
}
