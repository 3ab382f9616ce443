import { recallCell as at, triedFilters } from '../boundary/layout.gen.js';

/** One measurement of a storage's recall. */
export interface RecallMeasurement {
  /** Which records the filter kept: "none" had no filter; "near" and "far" are from the query's point of view. */
  filter: (typeof triedFilters)[number];
  /** Share of the records that the filter kept. */
  share: number;
  /** Mean share of the true nearest records that a search found at the defaults. */
  recall: number;
  /** Smallest tried `ef` with a recall of 0.99, if the default's is less; absent if none reached it. */
  ef?: number;
}

/** Reads the addon's numbers. */
export function readRecall(numbers: Float64Array): RecallMeasurement[] {
  const cells: RecallMeasurement[] = [];
  for (let begin = 0; begin < numbers.length; begin += at.numbers) {
    const number = (position: number) => numbers[begin + position] as number;
    const filter = triedFilters[number(at.filter)] as RecallMeasurement['filter'];
    const cell: RecallMeasurement = { filter, share: number(at.share), recall: number(at.recall) };
    if (number(at.ef) > 0) cell.ef = number(at.ef);
    cells.push(cell);
  }
  return cells;
}
