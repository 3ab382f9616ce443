import cliProgress from 'cli-progress';
import type { KnowledgePhase, KnowledgeProgress } from '../../knowledge/index.js';
import { note } from '../output.js';
import { count, counted, duration } from '../terminal/amounts.js';
import { padEnd } from '../terminal/columns.js';

const titles: Readonly<Record<KnowledgePhase, string>> = {
  read: 'reading',
  embed: 'embedding',
  index: 'linking',
  words: 'indexing words',
};

/** Between two lines about one phase where there is no terminal. */
const lineEveryMs = 10_000;
/** Below this the time left is a guess. */
const leastElapsedMs = 500;
const titleWidth = 14;
const widestBar = 40;
/** Columns of a line beside its bar, and the bar that is worth its place. */
const textWidth = titleWidth + 52;
const narrowestBar = 8;

export interface ProgressView {
  update(progress: KnowledgeProgress): void;
  /** Leaves the terminal as it was. Twice is fine. */
  stop(): void;
}

export const noView: ProgressView = { update() {}, stop() {} };

/** A bar per phase on a terminal, else lines. */
export function progressView(stream: NodeJS.WriteStream): ProgressView {
  return stream.isTTY ? new ProgressBars(stream) : new ProgressLines();
}

/** How fast a phase goes. */
class Pace {
  readonly phase: KnowledgePhase;
  readonly #started = performance.now();

  constructor(phase: KnowledgePhase) {
    this.phase = phase;
  }

  get elapsed(): number {
    return performance.now() - this.#started;
  }

  rate(done: number): string {
    const { elapsed } = this;
    return elapsed < leastElapsedMs ? '' : `${count(Math.round((done / elapsed) * 1000))}/s`;
  }

  left(done: number, total: number): string {
    const { elapsed } = this;
    if (elapsed < leastElapsedMs || done === 0 || done >= total) return '';
    return `${duration((elapsed / done) * (total - done))} left`;
  }
}

class ProgressBars implements ProgressView {
  readonly #stream: NodeJS.WriteStream;
  #bar: cliProgress.SingleBar | undefined;
  #pace: Pace | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  update({ phase, done, total }: KnowledgeProgress): void {
    if (phase !== this.#pace?.phase) this.#begin(phase, total);
    if (this.#pace === undefined || this.#bar === undefined) return;
    if (this.#bar.getTotal() !== total) this.#bar.setTotal(total);
    const ended = done === total && total > 0;
    const time = ended ? `in ${duration(this.#pace.elapsed)}` : this.#pace.left(done, total);
    this.#bar.update(done, { rate: this.#pace.rate(done), time });
    if (ended) this.stop();
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #begin(phase: KnowledgePhase, total: number): void {
    this.stop();
    this.#pace = new Pace(phase);
    const barsize = Math.min(widestBar, (this.#stream.columns || 80) - textWidth);
    const bar = barsize < narrowestBar ? '' : '[{bar}] ';
    this.#bar = new cliProgress.SingleBar({
      stream: this.#stream,
      format: `${padEnd(titles[phase], titleWidth)} ${bar}{percentage} %  {value}/{total}  {rate}  {time}`,
      barsize,
      barCompleteChar: '=',
      barIncompleteChar: ' ',
    });
    this.#bar.start(total, 0, { rate: '', time: '' });
  }
}

class ProgressLines implements ProgressView {
  #pace: Pace | undefined;
  #ended = false;
  #nextLine = 0;

  update({ phase, done, total }: KnowledgeProgress): void {
    if (phase !== this.#pace?.phase) {
      this.#pace = new Pace(phase);
      this.#nextLine = lineEveryMs;
      this.#ended = false;
    }
    const { elapsed } = this.#pace;
    if (this.#ended) return;
    if (done === total && total > 0) {
      this.#ended = true;
      const rate = this.#pace.rate(done);
      note(`${titles[phase]}: ${counted(total, 'record')} in ${duration(elapsed)}${rate && `, ${rate}`}`);
    } else if (elapsed >= this.#nextLine) {
      this.#nextLine = elapsed + lineEveryMs;
      const pace = [this.#pace.rate(done), this.#pace.left(done, total)].filter((text) => text !== '');
      note([`${titles[phase]}: ${count(done)} of ${count(total)}`, ...pace].join(', '));
    }
  }

  stop(): void {}
}
