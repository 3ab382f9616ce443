/** One element of a pattern. */
export interface PatternElement<Item> {
  matches(item: Item): boolean;
  /** Steps that a test takes at most. */
  readonly steps: number;
}

/**
 * A pattern of elements and runs, which stand for any number of items. The first place of a piece between two runs is as good as any
 * later one, so that hostile patterns cannot hang it.
 */
export class RunPattern<Item> {
  readonly #head: readonly PatternElement<Item>[];
  readonly #middle: readonly (readonly PatternElement<Item>[])[];
  /** Undefined: there is no run. */
  readonly #tail: readonly PatternElement<Item>[] | undefined;
  /** Fewest items that it matches. */
  readonly #fewest: number;

  /** `pieces`: the elements before, between and after the runs. */
  constructor(pieces: readonly (readonly PatternElement<Item>[])[]) {
    this.#head = pieces[0] ?? [];
    this.#middle = pieces.slice(1, -1).filter((piece) => piece.length > 0);
    this.#tail = pieces.length > 1 ? pieces.at(-1) : undefined;
    this.#fewest = pieces.flat().length;
  }

  matches(items: readonly Item[]): boolean {
    const tail = this.#tail;
    if (tail === undefined ? items.length !== this.#fewest : items.length < this.#fewest) return false;
    const end = items.length - (tail?.length ?? 0);
    if (!isAt(this.#head, items, 0) || (tail && !isAt(tail, items, end))) return false;
    let at = this.#head.length;
    for (const piece of this.#middle) {
      while (at + piece.length <= end && !isAt(piece, items, at)) at++;
      at += piece.length;
      if (at > end) return false;
    }
    return true;
  }

  /** Steps that a test takes at most, if a piece between two runs is tried at `places` with all of its elements, and at `tries` with few. */
  steps(places: number, tries = 0): number {
    const of = (piece: readonly PatternElement<Item>[]) => piece.reduce((sum, { steps }) => sum + steps, 0);
    const most = this.#middle.reduce((longest, piece) => Math.max(longest, of(piece)), 0);
    return of(this.#head) + of(this.#tail ?? []) + (most === 0 ? 0 : places * most + tries);
  }
}

function isAt<Item>(piece: readonly PatternElement<Item>[], items: readonly Item[], at: number): boolean {
  return piece.every((element, n) => element.matches(items[at + n] as Item));
}

/** Divides a list at its runs. */
export function piecesOf<Element>(list: readonly (Element | 'run')[]): Element[][] {
  const pieces: Element[][] = [[]];
  for (const element of list) {
    if (element === 'run') pieces.push([]);
    else pieces.at(-1)?.push(element);
  }
  return pieces;
}
