// Sets of unit vectors with queries, generated from a printed seed or read from the data folder; written to a raw f32 file
// that every contestant reads.
import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { cached, dataFolder } from '../harness/cache.mjs';
import { OptionError } from '../harness/command-line.mjs';
import { Random } from '../harness/numbers.mjs';
import { clusterOf, clustersIn, families, generateFamily } from './families.mjs';

/**
 * What there is:
 * - clusters: around centres in all directions, spread evenly: neighbours are clear, what lies beyond a cluster is all
 *   equally far;
 * - latent: the same in 32 dimensions, turned into the full space with a little noise: like text embeddings, whose
 *   intrinsic dimension is far below their length;
 * - mnist, glove: the real sets of the data folder;
 * - family-NAME: the shapes of families.mjs.
 */
const familyNames = Object.keys(families).map((name) => `family-${name}`);
const setNames = ['clusters', 'latent', 'mnist', 'glove', ...familyNames];

export function vectorSet(name, { rows = 100_000, dimension = 384, queries = 500, seed = 7 } = {}) {
  if (!setNames.includes(name)) throw new OptionError(`--set ${name}: ${setNames.join(', ')} are there`);
  if (name === 'mnist') return stored(name, ...mnist());
  if (name === 'glove') return stored(name, ...glove());
  const id = `${name}-${rows}x${dimension}-${queries}-${seed}`;
  const path = cached('vectors', `${id}.f32`);
  const family = familyNames.includes(name) ? name.slice('family-'.length) : undefined;
  const clusters = family ? clustersIn(family, rows) : Math.max(1, Math.round(rows / 100));
  if (!existsSync(path)) {
    const shape = { rows: rows + queries, dimension, clusters, latent: name === 'latent' ? 32 : 0 };
    const random = new Random(seed);
    writeRows(path, family ? generateFamily(family, shape, random) : generate(shape, random));
  }
  // Queries come last, so the rows are the same whatever the number of queries.
  const base = `${name}-${rows}x${dimension}-${seed}`;
  return { name: id, base, path, rows, queries, dimension, seed, clusters };
}

export const baseRows = (set) => readRows(set, 0, set.rows);
export const queryRows = (set) => readRows(set, set.rows, set.queries);

/** Rows `first` to `first + count - 1` of the file, in which the queries are last. Nothing else is held in memory. */
function readRows({ path, dimension }, first, count) {
  const rows = new Float32Array(count * dimension);
  const bytes = new Uint8Array(rows.buffer);
  const file = openSync(path);
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, Math.min(bytes.length - at, 1 << 28), first * dimension * 4 + at);
    if (read === 0) throw new Error(`${path} is shorter than its ${count} rows`);
    at += read;
  }
  closeSync(file);
  return rows;
}

/** A sentence for the result. */
export const describeSet = ({ name, rows, dimension, queries, seed }) =>
  `${rows} rows of ${dimension} dimensions ("${name.split('-')[0]}"${seed === undefined ? '' : `, generated with seed ${seed}`}), ${queries} queries`;

/** The cluster of each row of a generated set, its queries included. */
export function clustersOf(set) {
  return Uint32Array.from({ length: set.rows + set.queries }, (_, row) => clusterOf(row, set.clusters));
}

function generate({ rows, dimension, clusters, latent }, random) {
  const width = latent || dimension;
  const centres = new Float32Array(clusters * width);
  for (let i = 0; i < clusters; i++) {
    for (let j = 0; j < width; j++) centres[i * width + j] = random.normal();
    normalise(centres.subarray(i * width, (i + 1) * width));
  }
  const turn = Float32Array.from({ length: latent * dimension }, () => random.normal() / Math.sqrt(width));
  const out = new Float32Array(rows * dimension);
  const point = new Float32Array(width);
  for (let row = 0; row < rows; row++) {
    const centre = clusterOf(row, clusters) * width;
    for (let j = 0; j < width; j++) point[j] = centres[centre + j] + random.normal() / Math.sqrt(width);
    const to = out.subarray(row * dimension, (row + 1) * dimension);
    if (latent) {
      for (let i = 0; i < dimension; i++) to[i] = 0.02 * random.normal();
      for (let j = 0; j < latent; j++) {
        for (let i = 0; i < dimension; i++) to[i] += point[j] * turn[j * dimension + i];
      }
    } else to.set(point);
    normalise(to);
  }
  return out;
}

function normalise(vector) {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const factor = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let i = 0; i < vector.length; i++) vector[i] *= factor;
}

export function writeRows(path, values) {
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, new Uint8Array(values.buffer));
  renameSync(partial, path);
}

function stored(name, rows, queries, dimension) {
  const all = new Float32Array(rows.length + queries.length);
  all.set(rows);
  all.set(queries, rows.length);
  for (let i = 0; i < all.length; i += dimension) normalise(all.subarray(i, i + dimension));
  const path = cached('vectors', `${name}.f32`);
  writeRows(path, all);
  return {
    name,
    base: name,
    path,
    rows: rows.length / dimension,
    queries: queries.length / dimension,
    dimension,
  };
}

function mnist() {
  const read = (file) => {
    const bytes = gunzipSync(readFileSync(join(dataFolder, 'vectors/mnist-784', file)));
    const width = bytes.readInt32LE(0);
    const count = bytes.length / (4 + width);
    const out = new Float32Array(count * width);
    for (let i = 0; i < count; i++)
      out.set(bytes.subarray(i * (4 + width) + 4, (i + 1) * (4 + width)), i * width);
    return out;
  };
  return [read('base.bvecs.gz'), read('query.bvecs.gz'), 784];
}

// Every tenth word is a query, as in the set's own ground truth.
function glove() {
  const folder = join(dataFolder, 'vectors/glove-5k-50d');
  const text = gunzipSync(readFileSync(join(folder, 'glove-5k-50d.txt.gz'))).toString();
  const words = text
    .trim()
    .split('\n')
    .map((line) => line.split(' ').slice(1).map(Number));
  const pick = (keep) => Float32Array.from(words.filter((_, i) => (i % 10 === 0) === keep).flat());
  return [pick(false), pick(true), 50];
}
