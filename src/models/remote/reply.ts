import type { GenerationResult, Piece, TokenLogprobs } from '../text-model.js';
import type { ChatChunk } from './chat-chunk.js';

/** A reply on its way, between the server, which pushes, and one reader, who pulls. */
export class Reply implements AsyncIterator<Piece> {
  finish: GenerationResult['finish'] | undefined;
  usage: ChatChunk['usage'];
  readonly #cancel: () => void;
  readonly #pieces: Piece[] = [];
  readonly #logprobs: TokenLogprobs[] = [];
  readonly #times = { asked: performance.now(), begun: 0, first: 0, last: 0, gap: 0 };
  #waiting: (() => void)[] = [];
  #end: { error?: unknown } | undefined;
  #whole = { text: '', thinking: '' };
  #steps = 0;

  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }

  /** The text so far. */
  get whole(): string {
    return this.#whole.text;
  }

  /** The request is sent. */
  begins(): void {
    this.#times.begun = performance.now();
  }

  text(text: string, logprobs?: TokenLogprobs[] | undefined): void {
    this.#logprobs.push(...(logprobs ?? []));
    if (text !== '' || logprobs !== undefined) this.#push({ kind: 'text', text, logprobs });
  }

  think(text: string): void {
    if (text !== '') this.#push({ kind: 'thinking', text });
  }

  end(end: { error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Piece>> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) return { done: false, value: piece };
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#cancel();
    return { done: true, value: undefined };
  }

  /** A server that states no usage has generated about as many tokens as there were parts. */
  result(seed: number): GenerationResult {
    const { asked, begun, first, last, gap } = this.#times;
    const { prompt = 0, cached = 0, completion = this.#steps } = this.usage ?? {};
    return {
      ...this.#whole,
      finish: this.finish ?? 'stop',
      usage: { prompt, cached: Math.min(cached, prompt), computed: Math.max(0, prompt - cached), completion },
      drafts: { drafted: 0, accepted: 0 },
      timing: {
        queuedMs: Math.max(0, begun - asked),
        prefillMs: Math.max(0, first - begun),
        prefillChunks: 0,
        firstMs: Math.max(0, first - asked),
        decodeMs: last - first,
        longestGapMs: gap,
        pausedMs: 0,
        constraintWaits: 0,
        constraintMs: 0,
      },
      seed,
      tokens: new Int32Array(0),
      logprobs: this.#logprobs.length > 0 ? this.#logprobs : undefined,
    };
  }

  #push(piece: Piece): void {
    const now = performance.now();
    const times = this.#times;
    if (times.first === 0) times.first = now;
    else times.gap = Math.max(times.gap, now - times.last);
    times.last = now;
    this.#steps++;
    this.#whole[piece.kind] += piece.text;
    this.#pieces.push(piece);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
