// Exact neighbours, by a flat f32 scan, and recall against them.
import { VectorIndex } from '../lorekeep.mjs';
import { baseRows, queryRows } from './sets.mjs';

/** A row as near as the k-th true neighbour counts, whatever its number: ties have no order between programs. */
const tolerance = 1e-5;

export class Truth {
  #index;
  #set;
  #rows;
  #queries;

  static async of(set) {
    const truth = new Truth();
    truth.#set = set;
    truth.#rows = baseRows(set);
    truth.#queries = queryRows(set);
    truth.#index = await VectorIndex.build(truth.#rows, set.dimension, { kind: 'flat' });
    return truth;
  }

  /** Per query: how many rows there are to find, and the distance of the last of them. `filter(i)`: ordinals or nothing. */
  async limits(k, filter = () => undefined) {
    const limits = [];
    for (let i = 0; i < this.#set.queries; i++) {
      const { distances } = await this.#index.search(this.#query(i), { k, filter: filter(i) });
      limits.push({ count: distances.length, distance: distances.at(-1) ?? -1 });
    }
    return limits;
  }

  /**
   * Mean recall@k of `found`, k ordinals to a query, of as many of the first queries as it holds; `passes(i, row)` tells whether
   * the row may be found at all.
   */
  recall(found, k, limits, passes = () => true) {
    const asked = Math.min(limits.length, found.length / k);
    let sum = 0;
    for (let i = 0; i < asked; i++) {
      const { count, distance } = limits[i];
      const rows = new Set(found.subarray(i * k, (i + 1) * k));
      let hits = 0;
      rows.delete(-1);
      for (const row of rows)
        hits += this.#distance(i, row) <= distance + tolerance && passes(i, row) ? 1 : 0;
      sum += count === 0 ? 1 : Math.min(hits, count) / count;
    }
    return sum / asked;
  }

  close() {
    return this.#index.close();
  }

  #query(i) {
    return this.#queries.subarray(i * this.#set.dimension, (i + 1) * this.#set.dimension);
  }

  #distance(i, row) {
    const query = this.#query(i);
    const at = row * this.#set.dimension;
    let dot = 0;
    for (let j = 0; j < query.length; j++) dot += query[j] * this.#rows[at + j];
    return 1 - dot;
  }
}
