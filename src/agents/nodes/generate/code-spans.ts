/** Minimum number of backticks that fence a block of code over several lines. */
const fence = 3;

/**
 * Separates code from the rest of a Markdown text that arrives in pieces. A run of backticks begins code, and the
 * next run of the same length ends it. Code of one or two backticks ends with its line at the latest; a block of three or
 * more is also ended by a longer run.
 */
export class CodeSpans {
  /** Length of the run that began the code, 0 outside of code. */
  #opened = 0;
  /** Length of the run that the text ends with so far. */
  #run = 0;

  /** Whether the text after the last call is code. */
  get inside(): boolean {
    return this.#opened > 0;
  }

  backticks(count: number): void {
    this.#run += count;
  }

  /** Anything but backticks and line feeds. */
  text(): void {
    const run = this.#run;
    if (run === 0) return;
    this.#run = 0;
    if (this.#opened === 0) this.#opened = run;
    else if (run === this.#opened || (run > this.#opened && this.#opened >= fence)) this.#opened = 0;
  }

  lineFeed(): void {
    this.text();
    if (this.#opened < fence) this.#opened = 0;
  }
}
