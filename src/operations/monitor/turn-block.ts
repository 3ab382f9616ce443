import type { NumberSink, Shape, Shapes } from './shape.js';
import type { TurnRecord } from './turn-record.js';

/** Turns of a block. */
export const blockTurns = 256;
const firstNumbers = 16 * blockTurns;

/** A turn that is to be kept. */
export interface NewTurn {
  readonly seq: number;
  readonly turn: string;
  /** The rest of the record. */
  readonly numbers: Omit<TurnRecord, 'seq' | 'turn' | 'code' | 'components' | 'shortened'> & {
    readonly code: number | undefined;
  };
  readonly texts: KeptTexts | undefined;
}

export type KeptTexts = Pick<TurnRecord, 'components' | 'shortened'>;

/**
 * Up to 256 turns as flat numbers and shared shapes. A block is filled again and again, so a turn leaves the garbage collector
 * nothing but its id: objects that live for the length of a ring would be copied, promoted and marked.
 */
export class TurnBlock implements NumberSink {
  readonly #shapes: Shapes;
  readonly #ids: string[] = [];
  readonly #shapeOf: (Shape | undefined)[] = [];
  readonly #starts = new Uint32Array(blockTurns);
  /** Turns with texts, and turns whose shape has no room: whole. */
  readonly #whole = new Map<number, object>();
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

  set(place: number, { seq, turn, numbers, texts }: NewTurn): void {
    const start = this.#used;
    this.#starts[place] = start;
    this.#ids[place] = turn;
    const shape = texts === undefined ? this.#shapes.of(numbers, this) : undefined;
    this.#shapeOf[place] = shape;
    if (shape !== undefined) return;
    this.#used = start;
    this.#whole.set(place, { seq, turn, ...numbers, ...texts });
  }

  /** Returns a TurnRecord as JSON. */
  json(place: number, seq: number): string {
    const shape = this.#shapeOf[place];
    if (shape === undefined) return JSON.stringify(this.#whole.get(place));
    const numbers = shape.json(this.#numbers, this.#starts[place] as number);
    return `{"seq":${seq},"turn":${JSON.stringify(this.#ids[place])},${numbers.slice(1)}`;
  }
}
