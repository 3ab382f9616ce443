// Records and queries of the benchmark of changing storages: vectors around centres, texts of words with a Zipf
// distribution, one field.
import { Random } from '../../harness/numbers.mjs';

/** How far vectors lie from their centre, against the spread of the centres. */
const spread = 0.8;
const vocabulary = 20_000;
export const wordsPerText = 30;
const wordsPerQuery = 3;
export const fields = [{ name: 'group', type: 'int', optional: true }];
/** Matches three records of ten. */
export const filter = { '<': [{ knowledge: 'group' }, 3] };

export class MadeRecords {
  #random;
  #centres;

  constructor(dimension, count, seed = 42) {
    this.dimension = dimension;
    this.#random = new Random(seed);
    const centres = Math.max(8, Math.round(Math.sqrt(count)));
    this.#centres = Array.from({ length: centres }, () =>
      Float32Array.from({ length: dimension }, () => this.#normal()),
    );
  }

  /** Records with these ids, and their vectors in one array. */
  make(ids) {
    const { dimension } = this;
    const vectors = new Float32Array(ids.length * dimension);
    const records = ids.map((id, at) => {
      this.fill(vectors.subarray(at * dimension, (at + 1) * dimension));
      return { id, text: this.text(wordsPerText), metadata: { group: this.#random.integer(10) } };
    });
    return { records, vectors };
  }

  queries(count) {
    return Array.from({ length: count }, () => {
      const vector = new Float32Array(this.dimension);
      this.fill(vector);
      return { vector, text: this.text(wordsPerQuery) };
    });
  }

  fill(row) {
    const near = this.#centres[this.#random.integer(this.#centres.length)];
    for (let i = 0; i < row.length; i++) row[i] = near[i] + spread * this.#normal();
  }

  text(words) {
    return Array.from({ length: words }, () => `w${Math.floor(vocabulary ** this.#random.uniform())}`).join(
      ' ',
    );
  }

  /** Nearly normal, and cheaper. */
  #normal() {
    return this.#random.uniform() + this.#random.uniform() + this.#random.uniform() - 1.5;
  }
}

/** `size` ids from all over a storage of r0, r1, ...; those of one `count` differ until all were taken. */
export const scattered = (from, size, count) =>
  Array.from({ length: size }, (_, i) => `r${((from + i) * 7919) % count}`);

export const median = (values) => quantile(values, 0.5);

export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export async function measured(work) {
  const started = performance.now();
  const before = processorMs();
  await work();
  return { cpu: processorMs() - before, elapsed: performance.now() - started };
}

/** Waits until no merge runs and none is due. */
export async function merged(storage) {
  await storage.resumeMerging();
  while (storage.merging.state !== 'idle') await new Promise((done) => setTimeout(done, 5));
}
