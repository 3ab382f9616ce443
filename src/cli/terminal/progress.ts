import { createRequire } from 'node:module';
import type cliProgress from 'cli-progress';
import type { KnowledgePhase } from '../../knowledge/index.js';
import { note } from '../output.js';
import { count, counted, duration, size } from './amounts.js';
import { padEnd } from './columns.js';
import { printable } from './printable.js';

/** Phases of knowledge bases, of `lorekeep eval` and of `lorekeep transcribe`. */
type Phase = KnowledgePhase | 'questions' | 'speech';

const titles: Readonly<Record<Phase, string>> = {
  files: 'reading files',
  read: 'reading',
  embed: 'embedding',
  index: 'linking',
  words: 'indexing words',
  questions: 'asking',
  speech: 'listening',
};

/** The units of phases that do not count records. */
const units: Partial<Record<Phase, string>> = { files: 'file', questions: 'question', speech: 'second' };

/** Milliseconds between two lines about one phase, without a terminal. */
const lineEveryMs = 10_000;
/** Until then the rate and the remaining time are guesses, in ms. */
const minElapsedMs = 500;
const titleWidth = 14;
const widestBar = 40;
/** Columns beside the title and the bar, and the smallest useful bar. */
const textWidth = 52;
const narrowestBar = 8;

/** Progress of a phase, or of the download of a file, in bytes. */
export type Progress = { done: number; total: number } & ({ phase: Phase } | { file: string });

export interface ProgressView {
  update(progress: Progress): void;
  /** Restores the terminal. May be called twice. */
  stop(): void;
}

/**
 * One progress bar per phase or file on a terminal, plain lines elsewhere, nothing there if `json`. Phases shorter than
 * `quietMs` print nothing.
 */
export function progressView(
  stream: NodeJS.WriteStream,
  { quietMs = 0, json = false }: { quietMs?: number; json?: boolean | undefined } = {},
): ProgressView {
  return json && !stream.isTTY ? { update() {}, stop() {} } : new PhaseView(stream, quietMs);
}

class PhaseView implements ProgressView {
  readonly #stream: NodeJS.WriteStream;
  readonly #quietMs: number;
  #title = '';
  #started = 0;
  #nextLine = 0;
  #ended = false;
  #bar: cliProgress.SingleBar | undefined;

  constructor(stream: NodeJS.WriteStream, quietMs: number) {
    this.#stream = stream;
    this.#quietMs = quietMs;
  }

  update(progress: Progress): void {
    const { done, total } = progress;
    const isFile = 'file' in progress;
    const title = isFile ? printable(progress.file) : titles[progress.phase];
    if (title !== this.#title) {
      this.stop();
      this.#title = title;
      this.#started = performance.now();
      this.#nextLine = lineEveryMs;
      this.#ended = false;
    }
    const elapsed = performance.now() - this.#started;
    if (this.#ended || elapsed < this.#quietMs) return;
    this.#ended = done === total && total > 0;
    const amount = isFile ? size : count;
    const isGuess = elapsed < minElapsedMs;
    const rate = isGuess ? '' : `${amount(Math.round((done / elapsed) * 1000))}/s`;
    const left = isGuess || done === 0 ? '' : `${duration((elapsed / done) * (total - done))} left`;
    const time = this.#ended ? `in ${duration(elapsed)}` : left;
    if (this.#stream.isTTY) {
      this.#bar ??= this.#newBar(total);
      if (this.#bar.getTotal() !== total) this.#bar.setTotal(total);
      this.#bar.update(done, { amounts: `${amount(done)}/${amount(total)}`, rate, time });
      if (this.#ended) this.stop();
    } else if (this.#ended) {
      const all = isFile ? size(total) : counted(total, units[progress.phase] ?? 'record');
      note(`${title}: ${all} ${time}${rate && `, ${rate}`}`);
    } else if (elapsed >= this.#nextLine) {
      this.#nextLine = elapsed + lineEveryMs;
      note([`${title}: ${amount(done)} of ${amount(total)}`, rate, time].filter(Boolean).join(', '));
    }
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #newBar(total: number): cliProgress.SingleBar {
    const title = padEnd(this.#title, titleWidth);
    const room = (this.#stream.columns || 80) - title.length - textWidth;
    const barsize = Math.max(0, Math.min(widestBar, room));
    const { SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof cliProgress;
    const made = new SingleBar({
      stream: this.#stream,
      format: `${title} ${barsize < narrowestBar ? '' : '[{bar}] '}{percentage} %  {amounts}  {rate}  {time}`,
      barsize,
      barCompleteChar: '=',
      barIncompleteChar: ' ',
    });
    made.start(total, 0, { amounts: '', rate: '', time: '' });
    return made;
  }
}
