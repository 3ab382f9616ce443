/** How samples are written in bytes. */
export type SampleFormat = 's16' | 'f32';

export const sampleBytes: Readonly<Record<SampleFormat, number>> = { s16: 2, f32: 4 };

/** Audio, or the place of a mark. */
export type InputPart = { readonly samples: Float32Array } | { readonly mark: () => Promise<void> };

/**
 * Audio that has arrived and was not heard yet, with marks between. Its owner bounds it. A client may set a mark after each sample,
 * so nothing here moves all that waits for each part.
 */
export class AudioInput {
  readonly #format: SampleFormat;
  /** What waits is in [begin, end). */
  #samples = new Float32Array(0);
  #begin = 0;
  #end = 0;
  /** Samples that next() has returned. */
  #heard = 0;
  /** Places of marks, in samples from the beginning of the stream. Those before #passed were returned. */
  #marks: { at: number; mark: () => Promise<void> }[] = [];
  #passed = 0;
  #wake: (() => void) | undefined;

  constructor(format: SampleFormat) {
    this.#format = format;
  }

  /** Takes whole samples, little-endian. */
  append(bytes: Uint8Array): void {
    const count = bytes.length / sampleBytes[this.#format];
    this.#makeRoom(count);
    decode(bytes, this.#format, this.#samples.subarray(this.#end, this.#end + count));
    this.#end += count;
    this.#wake?.();
  }

  /** Has next() return `mark` after the audio so far. It replaces a mark at the same place. */
  mark(mark: () => Promise<void>): void {
    const at = this.#heard + this.#length;
    if (this.#marks.length > this.#passed && this.#marks.at(-1)?.at === at) this.#marks.pop();
    this.#marks.push({ at, mark });
    this.#wake?.();
  }

  /** Whether nothing waits to be heard. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Number of marks that wait for the audio before them to be heard. */
  get marks(): number {
    return this.#marks.length - this.#passed;
  }

  /** Returns up to `most` samples, or a mark. Waits for one. */
  async next(most: number): Promise<InputPart> {
    while (this.#length === 0 && this.#marks.length === this.#passed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const first = this.#marks[this.#passed];
    if (first?.at === this.#heard) {
      this.#pass();
      return { mark: first.mark };
    }
    const left = first === undefined ? this.#length : first.at - this.#heard;
    const taken = Math.min(most, left);
    const samples = this.#samples.slice(this.#begin, this.#begin + taken);
    this.#begin += taken;
    this.#heard += taken;
    return { samples };
  }

  get #length(): number {
    return this.#end - this.#begin;
  }

  /** Moves what waits to the beginning when this makes room for as much again, else into more memory. */
  #makeRoom(count: number): void {
    if (this.#end + count <= this.#samples.length) return;
    const length = this.#length;
    const wanted = Math.ceil(1.5 * (length + count));
    const room = wanted <= this.#samples.length ? this.#samples : new Float32Array(wanted);
    room.set(this.#samples.subarray(this.#begin, this.#end));
    this.#samples = room;
    this.#begin = 0;
    this.#end = length;
  }

  #pass(): void {
    this.#passed++;
    if (2 * this.#passed <= this.#marks.length) return;
    this.#marks = this.#marks.slice(this.#passed);
    this.#passed = 0;
  }
}

/** A stream is little-endian on every machine, and its bytes may begin anywhere in a buffer. */
function decode(bytes: Uint8Array, format: SampleFormat, samples: Float32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (format === 's16')
    for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true) / 32_768;
  else for (let i = 0; i < samples.length; i++) samples[i] = view.getFloat32(4 * i, true);
}
