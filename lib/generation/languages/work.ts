/** A schema takes more work than is left for it. */
export class TooMuchWork extends Error {}

/** The work of this piece is done: the next piece begins anew, and finds what was finished. */
export class PieceOver extends Error {}

/**
 * Limits in units of work, a thousand of which take about .6 ms: of a piece before it may end, of a piece that cannot end earlier, and
 * of a grammar. They are counted and not timed, so that the same schemas are refused on every machine.
 */
const unitsOfPiece = 16_000;
const maxUnitsOfPiece = 40_000;
const maxUnits = 120_000;

/** Counts the work for the schemas of one grammar and divides it into pieces that the event loop can spare. */
export class Work {
  readonly #pauses: boolean;
  #all = 0;
  #piece = 0;

  constructor({ pauses = true } = {}) {
    this.#pauses = pauses;
  }

  beginPiece(): void {
    this.#piece = 0;
  }

  /** @throws TooMuchWork */
  spend(units: number): void {
    this.#all += units;
    this.#piece += units;
    if (this.#all > maxUnits || this.#piece > maxUnitsOfPiece) throw new TooMuchWork('takes too much work');
  }

  /** Ends a piece that has lasted long enough. Precondition: some of its results stay. @throws PieceOver */
  mayPause(): void {
    if (this.#pauses && this.#piece > unitsOfPiece) throw new PieceOver();
  }
}
