import type { ServerFrames } from '../../client/index.js';

/** Tokens and times of a conversation. */
export class ChatStats {
  #turns = 0;
  #prompt = 0;
  #cached = 0;
  #completion = 0;
  #last: { firstMs: number | undefined; ms: number; tokens: number } | undefined;

  /** Adds a turn. Times in ms since its request; `firstMs`: until its first text. */
  add({ usage }: ServerFrames['TurnComplete'], ms: number, firstMs: number | undefined): void {
    this.#turns++;
    this.#prompt += usage?.prompt ?? 0;
    this.#cached += usage?.cached ?? 0;
    this.#completion += usage?.completion ?? 0;
    this.#last = { firstMs, ms, tokens: usage?.completion ?? 0 };
  }

  lines(): string[] {
    const lines = [
      `turns         ${this.#turns}`,
      `prompt        ${this.#prompt} tokens, ${this.#cached} of them cached`,
      `replies       ${this.#completion} tokens`,
    ];
    const last = this.#last;
    if (last === undefined) return lines;
    const { firstMs, ms, tokens } = last;
    const first = firstMs === undefined ? 'no text' : `first text after ${Math.round(firstMs)} ms`;
    const rest = ms - (firstMs ?? 0);
    const rate = tokens > 1 && rest > 0 ? `, ${((1000 * (tokens - 1)) / rest).toFixed(1)} tokens/s` : '';
    return [...lines, `last turn     ${tokens} tokens in ${Math.round(ms)} ms, ${first}${rate}`];
  }
}
