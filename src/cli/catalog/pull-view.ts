import cliProgress from 'cli-progress';
import type { PullProgress } from '../../models/downloads/model-downloads.js';
import { note } from '../output.js';
import { size } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';

/** Between two lines without a terminal, in ms. */
const lineEveryMs = 10_000;

export interface PullView {
  update(progress: PullProgress): void;
  note(text: string): void;
  stop(): void;
}

/** A progress bar on a terminal, a line every 10 seconds elsewhere. */
export function pullView(quiet: boolean): PullView {
  if (process.stderr.isTTY) return new Bar();
  return quiet ? { update() {}, note() {}, stop() {} } : new Lines();
}

class Bar implements PullView {
  #bar: cliProgress.SingleBar | undefined;
  #file = '';

  update({ file, done, total }: PullProgress): void {
    if (file !== this.#file) this.stop();
    this.#file = file;
    this.#bar ??= this.#start(total);
    this.#bar.update(done, { shown: `${size(done)} of ${size(total)}` });
  }

  note(text: string): void {
    this.stop();
    note(printable(text));
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #start(total: number): cliProgress.SingleBar {
    const bar = new cliProgress.SingleBar({
      stream: process.stderr,
      format: `[{bar}] {percentage} %  {shown}  {eta_formatted} left`,
      barsize: Math.max(8, Math.min(40, (process.stderr.columns || 80) - 50)),
      barCompleteChar: '=',
      barIncompleteChar: ' ',
    });
    bar.start(total, 0, { shown: '' });
    return bar;
  }
}

class Lines implements PullView {
  #next = performance.now() + lineEveryMs;

  update({ file, done, total }: PullProgress): void {
    if (done < total && performance.now() < this.#next) return;
    this.#next = performance.now() + lineEveryMs;
    note(printable(`${file}: ${size(done)} of ${size(total)}`));
  }

  note(text: string): void {
    note(printable(text));
  }

  stop(): void {}
}
