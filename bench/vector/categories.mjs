// Filters in relation to the vectors, for sets of any shape:
//
//   independent   random rows
//   following     every other group of clusters, whether or not the query's is among them
//   own           groups of clusters that include the query's
//   opposing      the rows farthest from the query's anchor, one of eight rows
//   near          the rows nearest to it
//   fields        independent and following together, each at the square root of the share
import { Random } from '../harness/numbers.mjs';
import { clusterOf } from './families.mjs';
import { baseRows, queryRows } from './sets.mjs';

export const relations = ['independent', 'following', 'own', 'opposing', 'near', 'fields'];
const anchors = 8;
const pivots = 100;
/** Following filters alternate among this many sets of groups. */
const variants = 4;

export class Categories {
  #set;
  #rows;
  #queries;
  #rank;
  #anchors;
  #place;

  constructor(set) {
    this.#set = set;
    this.#rows = baseRows(set);
    this.#queries = queryRows(set);
    const random = new Random(set.seed ?? 7);
    this.#rank = random.permutation(set.rows);
    this.#anchors = random.permutation(set.rows).subarray(0, anchors);
    this.#place = this.#placesByCluster(random);
  }

  /** A key and the ordinals of the filter for query i: queries of the same key share it. */
  of(relation, share, i) {
    const { rows } = this.#set;
    const count = Math.round(share * rows);
    if (relation === 'independent')
      return { key: 'all', make: () => this.#where((row) => this.#rank[row] < count) };
    if (relation === 'following') {
      const from = Math.floor(((i % variants) * rows) / variants);
      return { key: from, make: () => this.#where((row) => this.#follows(row, from, count)) };
    }
    if (relation === 'fields') {
      const part = Math.round(Math.sqrt(share) * rows);
      const from = Math.floor(((i % variants) * rows) / variants);
      return {
        key: from,
        make: () => this.#where((row) => this.#rank[row] < part && this.#follows(row, from, part)),
      };
    }
    if (relation === 'own') {
      const at = this.#place[rows + i];
      const from = Math.max(0, Math.floor(at - count / 2));
      return { key: from, make: () => this.#where((row) => this.#follows(row, from, count)) };
    }
    const anchor = this.#nearestAnchor(i);
    return { key: anchor, make: () => this.#byDistance(anchor, count, relation === 'near') };
  }

  #follows(row, from, count) {
    const place = this.#place[row];
    return (place >= from && place < from + count) || place < from + count - this.#set.rows;
  }

  #where(passes) {
    const found = [];
    for (let row = 0; row < this.#set.rows; row++) if (passes(row)) found.push(row);
    return Uint32Array.from(found);
  }

  #byDistance(anchor, count, nearest) {
    const nearness = Float32Array.from({ length: this.#set.rows }, (_, row) =>
      dot(this.#set.dimension, this.#rows, this.#anchors[anchor], this.#rows, row),
    );
    const order = Uint32Array.from(nearness, (_, row) => row).sort(
      (a, b) => nearness[b] - nearness[a] || a - b,
    );
    return (nearest ? order.subarray(0, count) : order.subarray(order.length - count)).slice().sort();
  }

  #nearestAnchor(i) {
    const { dimension } = this.#set;
    const dots = Array.from(this.#anchors, (row) => dot(dimension, this.#queries, i, this.#rows, row));
    return dots.indexOf(Math.max(...dots));
  }

  /** Place of every row, then of every query, in an order by cluster, the clusters at random. */
  #placesByCluster(random) {
    const { rows, queries } = this.#set;
    const cluster = this.#clusters(random);
    const order = random.permutation(Math.max(...cluster) + 1);
    const ofRows = Uint32Array.from({ length: rows }, (_, row) => row).sort(
      (a, b) => order[cluster[a]] - order[cluster[b]] || a - b,
    );
    const place = new Float64Array(rows + queries);
    const middle = new Map();
    ofRows.forEach((row, at) => {
      place[row] = at;
      middle.set(cluster[row], middle.has(cluster[row]) ? (middle.get(cluster[row]) + at) / 2 : at);
    });
    for (let i = 0; i < queries; i++) place[rows + i] = middle.get(cluster[rows + i]) ?? 0;
    return place;
  }

  /** The generated clusters; of a real set, the nearest of some rows. */
  #clusters(random) {
    const { rows, queries, dimension, clusters } = this.#set;
    if (clusters > 1) return Uint32Array.from({ length: rows + queries }, (_, i) => clusterOf(i, clusters));
    const chosen = random.permutation(rows).subarray(0, pivots);
    return Uint32Array.from({ length: rows + queries }, (_, i) => {
      const [from, at] = i < rows ? [this.#rows, i] : [this.#queries, i - rows];
      let best = 0;
      let most = -2;
      for (let p = 0; p < pivots; p++) {
        const similarity = dot(dimension, from, at, this.#rows, chosen[p]);
        if (similarity > most) [most, best] = [similarity, p];
      }
      return best;
    });
  }
}

function dot(dimension, a, i, b, j) {
  let sum = 0;
  for (let at = 0; at < dimension; at++) sum += a[i * dimension + at] * b[j * dimension + at];
  return sum;
}
