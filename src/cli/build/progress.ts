import cliProgress from 'cli-progress';
import type { KnowledgePhase, KnowledgeProgress } from '../../knowledge/index.js';
import { note } from '../output.js';
import { count, counted, duration } from '../terminal/amounts.js';
import { padEnd } from '../terminal/columns.js';

/** Phases of knowledge bases, and of `lorekeep eval`. */
type Phase = KnowledgePhase | 'questions';

const titles: Readonly<Record<Phase, string>> = {
  files: 'reading files',
  read: 'reading',
  embed: 'embedding',
  index: 'linking',
  words: 'indexing words',
  questions: 'asking',
};

/** Milliseconds between two lines about one phase, without a terminal. */
const lineEveryMs = 10_000;
/** Below this share the remaining time is a guess. */
const minElapsedMs = 500;
const titleWidth = 14;

/** The unit of a phase. */
const units: Partial<Record<Phase, string>> = { files: 'file', questions: 'question' };
const unitOf = (phase: Phase) => units[phase] ?? 'record';
const widestBar = 40;
/** Columns beside the bar, and the smallest useful bar. */
const textWidth = titleWidth + 52;
const narrowestBar = 8;

/** KnowledgeProgress, with the phases of commands. */
export interface Progress extends Omit<KnowledgeProgress, 'phase'> {
  phase: Phase;
}

export interface ProgressView {
  update(progress: Progress): void;
  /** Restores the terminal. May be called twice. */
  stop(): void;
}

export const noView: ProgressView = { update() {}, stop() {} };

/** One progress bar per phase on a terminal, plain lines elsewhere. Phases shorter than `quietMs` print nothing. */
export function progressView(stream: NodeJS.WriteStream, quietMs = 0): ProgressView {
  return stream.isTTY ? new ProgressBars(stream, quietMs) : new ProgressLines(quietMs);
}

/** The rate of a phase. */
class Pace {
  readonly phase: Phase;
  readonly #started = performance.now();

  constructor(phase: Phase) {
    this.phase = phase;
  }

  get elapsed(): number {
    return performance.now() - this.#started;
  }

  rate(done: number): string {
    const { elapsed } = this;
    return elapsed < minElapsedMs ? '' : `${count(Math.round((done / elapsed) * 1000))}/s`;
  }

  left(done: number, total: number): string {
    const { elapsed } = this;
    if (elapsed < minElapsedMs || done === 0 || done >= total) return '';
    return `${duration((elapsed / done) * (total - done))} left`;
  }
}

class ProgressBars implements ProgressView {
  readonly #stream: NodeJS.WriteStream;
  readonly #quietMs: number;
  #bar: cliProgress.SingleBar | undefined;
  #pace: Pace | undefined;
  #ended = false;

  constructor(stream: NodeJS.WriteStream, quietMs: number) {
    this.#stream = stream;
    this.#quietMs = quietMs;
  }

  update({ phase, done, total }: Progress): void {
    if (phase !== this.#pace?.phase) {
      this.stop();
      this.#pace = new Pace(phase);
      this.#ended = false;
    }
    if (this.#ended || this.#pace.elapsed < this.#quietMs) return;
    this.#bar ??= this.#newBar(phase, total);
    if (this.#bar.getTotal() !== total) this.#bar.setTotal(total);
    this.#ended = done === total && total > 0;
    const time = this.#ended ? `in ${duration(this.#pace.elapsed)}` : this.#pace.left(done, total);
    this.#bar.update(done, { rate: this.#pace.rate(done), time });
    if (this.#ended) this.stop();
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #newBar(phase: Phase, total: number): cliProgress.SingleBar {
    const barsize = Math.min(widestBar, (this.#stream.columns || 80) - textWidth);
    const bar = barsize < narrowestBar ? '' : '[{bar}] ';
    const made = new cliProgress.SingleBar({
      stream: this.#stream,
      format: `${padEnd(titles[phase], titleWidth)} ${bar}{percentage} %  {value}/{total}  {rate}  {time}`,
      barsize,
      barCompleteChar: '=',
      barIncompleteChar: ' ',
    });
    made.start(total, 0, { rate: '', time: '' });
    return made;
  }
}

class ProgressLines implements ProgressView {
  readonly #quietMs: number;
  #pace: Pace | undefined;
  #ended = false;
  #nextLine = 0;

  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  update({ phase, done, total }: Progress): void {
    if (phase !== this.#pace?.phase) {
      this.#pace = new Pace(phase);
      this.#nextLine = lineEveryMs;
      this.#ended = false;
    }
    const { elapsed } = this.#pace;
    if (this.#ended || elapsed < this.#quietMs) return;
    if (done === total && total > 0) {
      this.#ended = true;
      const rate = this.#pace.rate(done);
      note(
        `${titles[phase]}: ${counted(total, unitOf(phase))} in ${duration(elapsed)}${rate && `, ${rate}`}`,
      );
    } else if (elapsed >= this.#nextLine) {
      this.#nextLine = elapsed + lineEveryMs;
      const pace = [this.#pace.rate(done), this.#pace.left(done, total)].filter((text) => text !== '');
      note([`${titles[phase]}: ${count(done)} of ${count(total)}`, ...pace].join(', '));
    }
  }

  stop(): void {}
}
