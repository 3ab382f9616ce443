/** A schema takes more work than is left for it. */
export class TooMuchWork extends Error {}

/** The work of this piece is done: the next piece begins anew, and finds what was finished. */
export class PieceOver extends Error {}

/**
 * Limits in units of work. A thousand units take about 0.5 ms, and 3 ms while the code is new to the process; V8 compiles it meanwhile
 * on another core, which takes as long again. A piece may end after `unitsOfPiece`, and must end before `maxUnitsOfPiece`; a grammar has
 * `maxUnits`. Work is counted and not timed, so that every machine refuses the same schemas.
 */
const unitsOfPiece = 5_000;
const maxUnitsOfPiece = 12_000;
const maxUnits = 16_000;

/** Counts the work for the schemas of one grammar and divides it into pieces that the event loop can spare. */
export class Work {
  readonly #pauses: boolean;
  readonly #isLimited: boolean;
  #all = 0;
  #piece = 0;

  /** What is derived when the program is built has no limit. */
  constructor({ pauses = true, isLimited = true } = {}) {
    this.#pauses = pauses;
    this.#isLimited = isLimited;
  }

  beginPiece(): void {
    this.#piece = 0;
  }

  /** @throws TooMuchWork */
  spend(units: number): void {
    this.#all += units;
    this.#piece += units;
    if (this.#isLimited && (this.#all > maxUnits || this.#piece > maxUnitsOfPiece))
      throw new TooMuchWork('takes too much work');
  }

  /** Ends a piece that has lasted long enough. Precondition: some of its results stay. @throws PieceOver */
  mayPause(): void {
    if (this.#pauses && this.#piece > unitsOfPiece) throw new PieceOver();
  }
}
