// Filters of a known selectivity, as ranges of integer fields, in relation to what is asked:
//
// - independent: the rank of a row in a random order;
// - near, far: its rank by distance from the query's anchor, one of eight rows: the nearest share (correlated with the
//   vectors), or the farthest (anti-correlated);
// - own, other: its cluster's number: clusters among which the query's is, or only others.
import { Random } from '../harness/numbers.mjs';
import { baseRows, clustersOf, queryRows } from './sets.mjs';

const anchors = 8;

export const relations = ['independent', 'near', 'far', 'own', 'other'];

export class Filters {
  #set;
  #rows;
  #queries;
  #anchorOf;
  #topics;
  /** Field name -> value of each row. */
  columns;

  constructor(set) {
    this.#set = set;
    this.#rows = baseRows(set);
    this.#queries = queryRows(set);
    const random = new Random(set.seed + 1);
    this.#anchorOf = this.#nearestAnchors();
    const topicOfCluster = random.permutation(set.clusters);
    this.#topics = clustersOf(set).map((cluster) => topicOfCluster[cluster]);
    this.columns = this.#makeColumns(random);
  }

  /** The condition of query i, [field, from, to], to excluded; undefined where there is none of that share. */
  of(relation, share, i) {
    const { rows, clusters } = this.#set;
    const count = Math.round(share * rows);
    if (relation === 'independent') return ['random', 0, count];
    if (relation === 'near') return [`anchor${this.#anchorOf[i]}`, 0, count];
    if (relation === 'far') return [`anchor${this.#anchorOf[i]}`, rows - count, rows];
    const chosen = Math.round(share * clusters);
    if (chosen < 1) return undefined;
    const topic = this.#topics[rows + i];
    const first = Math.min(topic, clusters - chosen);
    if (relation === 'own') return ['topic', first, first + chosen];
    return topic < clusters / 2 ? ['topic', clusters - chosen, clusters] : ['topic', 0, chosen];
  }

  passes(filter, row) {
    if (filter === undefined) return true;
    const [field, from, to] = filter;
    return this.columns[field][row] >= from && this.columns[field][row] < to;
  }

  /** The ordinals that pass; undefined for no filter. */
  matching(filter) {
    if (filter === undefined) return undefined;
    const [field, from, to] = filter;
    const values = this.columns[field];
    const found = [];
    for (let row = 0; row < values.length; row++)
      if (values[row] >= from && values[row] < to) found.push(row);
    return Uint32Array.from(found);
  }

  /** Rank of every row by each of the fields, so that a range of `share * rows` selects exactly that share. */
  #makeColumns(random) {
    const made = { random: ranks(random.permutation(this.#set.rows)) };
    for (let anchor = 0; anchor < anchors; anchor++) {
      const at = this.#anchorRow(anchor);
      const nearness = Float32Array.from(
        { length: this.#set.rows },
        (_, row) => -this.#dot(this.#rows, at, this.#rows, row),
      );
      made[`anchor${anchor}`] = ranks(sortedBy(nearness));
    }
    made.topic = this.#topics.slice(0, this.#set.rows);
    return made;
  }

  /** The anchor row nearest to each query, by number. */
  #nearestAnchors() {
    return Array.from({ length: this.#set.queries }, (_, query) => {
      const dots = Array.from({ length: anchors }, (_, anchor) =>
        this.#dot(this.#queries, query, this.#rows, this.#anchorRow(anchor)),
      );
      return dots.indexOf(Math.max(...dots));
    });
  }

  #anchorRow(anchor) {
    return anchor * Math.floor(this.#set.rows / anchors);
  }

  #dot(a, i, b, j) {
    const { dimension } = this.#set;
    let sum = 0;
    for (let at = 0; at < dimension; at++) sum += a[i * dimension + at] * b[j * dimension + at];
    return sum;
  }
}

function sortedBy(keys) {
  return Uint32Array.from(keys, (_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);
}

/** The position of each row in an order. */
function ranks(order) {
  const rank = new Uint32Array(order.length);
  for (let position = 0; position < order.length; position++) rank[order[position]] = position;
  return rank;
}

/** Schema of a storage of ours for the columns of Filters. */
export const fieldsOf = (columns) => Object.keys(columns).map((name) => ({ name, type: 'int', default: 0 }));

/** Its records. */
export function recordsOf(columns) {
  const all = Object.entries(columns);
  return Array.from({ length: all[0][1].length }, (_, row) => ({
    id: String(row),
    text: 'x',
    metadata: Object.fromEntries(all.map(([name, values]) => [name, values[row]])),
  }));
}

/** A condition of Filters as a filter expression of ours. */
export const expressionOf = ([field, from, to]) => ({
  and: [{ '>=': [{ knowledge: field }, from] }, { '<': [{ knowledge: field }, to] }],
});
