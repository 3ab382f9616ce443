import type { NumberSink, Shape, Shapes } from './shape.js';
import type { TurnRecord } from './turn-record.js';

/** Turns of a block. */
export const blockTurns = 256;
const firstNumbers = 16 * blockTurns;

/** A turn without its number, its id and its texts. Fields that ranks are read from come first. */
export type TurnNumbers = Omit<TurnRecord, 'seq' | 'turn' | 'components' | 'shortened'>;

/** Places of the first numbers of a turn. */
const queuedAt = 1;
const durationAt = 2;

/**
 * Up to 256 turns as flat numbers and shared shapes. A block is filled again and again, so a turn leaves the garbage collector
 * nothing but its id: objects that live for the length of a ring would be copied, promoted and marked.
 */
export class TurnBlock implements NumberSink {
  readonly #shapes: Shapes;
  readonly #ids: string[] = [];
  readonly #shapeOf: (Shape | undefined)[] = [];
  readonly #starts = new Uint32Array(blockTurns);
  readonly #failed = new Uint8Array(blockTurns);
  /** Turns with texts, and those whose shape has no room: whole. */
  readonly #whole = new Map<number, TurnRecord>();
  #numbers = new Float64Array(firstNumbers);
  #used = 0;

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  clear(): void {
    this.#used = 0;
    this.#whole.clear();
  }

  push(value: number): void {
    if (this.#used === this.#numbers.length) {
      const longer = new Float64Array(2 * this.#used);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#used++] = value;
  }

  /** `texts`: further fields of the record. */
  set(place: number, seq: number, id: string, turn: TurnNumbers, texts: object | undefined): void {
    const start = this.#used;
    this.#starts[place] = start;
    this.#ids[place] = id;
    this.#failed[place] = turn.status === 'failed' ? 1 : 0;
    const shape = texts === undefined ? this.#shapes.of(turn, this) : undefined;
    this.#shapeOf[place] = shape;
    if (shape !== undefined) return;
    this.#used = start;
    this.#whole.set(place, { seq, turn: id, ...turn, ...texts });
  }

  /** Returns a TurnRecord as JSON. */
  json(place: number, seq: number): string {
    const shape = this.#shapeOf[place];
    if (shape === undefined) return JSON.stringify(this.#whole.get(place));
    const numbers = shape.json(this.#numbers, this.#starts[place] as number);
    return `{"seq":${seq},"turn":${JSON.stringify(this.#ids[place])},${numbers.slice(1)}`;
  }

  /** How much a turn deserves to be looked at: failed ones most, then by their time. */
  rank(place: number): number {
    if (this.#failed[place] === 1) return Number.POSITIVE_INFINITY;
    const whole = this.#whole.get(place);
    if (whole !== undefined) return whole.queuedMs + whole.durationMs;
    const start = this.#starts[place] as number;
    return (this.#numbers[start + queuedAt] as number) + (this.#numbers[start + durationAt] as number);
  }
}
