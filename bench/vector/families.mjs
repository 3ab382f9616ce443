// Shapes of vector sets on which approximate search is known to fail, each generated from a seed.
//
// A row is a cluster's centre plus a residual. The families vary, one at a time:
//
//   clusters     number of centres; or `of`, the mean number of rows per cluster
//   overlap      length of a residual relative to a centre: 0.4 separate clusters, 1 touching, 2 overlapping
//   local        dimension of a cluster's own random subspace, in which its residuals lie (with 5 % noise around it)
//   latent       dimension of one subspace for all centres and residuals; 0: the full space
//   decay        exponent by which the standard deviations of the axes fall: 0 all equal, 1 like eigenvalues of text embeddings
//   tails        degrees of freedom of Student's t for the length of a residual; 0: normal
//   copies       share of rows that repeat an earlier row exactly
//   twins        share of rows that repeat an earlier row with 3 % noise
import { Random } from '../harness/numbers.mjs';

const plain = { clusters: 200, overlap: 1, local: 0, latent: 0, decay: 0, tails: 0, copies: 0, twins: 0 };

export const families = {
  separate: { ...plain, overlap: 0.4 },
  touching: plain,
  overlapping: { ...plain, clusters: 400, overlap: 1.5, local: 12 },
  'overlapping-thin': { ...plain, clusters: 400, overlap: 2, local: 5 },
  'few-clusters': { ...plain, clusters: 8, overlap: 1, local: 20 },
  'many-clusters': { ...plain, clusters: 4000, overlap: 1, local: 10 },
  'clusters-of-2': { ...plain, of: 2, local: 10 },
  'clusters-of-5': { ...plain, of: 5, local: 10 },
  'clusters-of-10': { ...plain, of: 10, local: 10 },
  'clusters-of-30': { ...plain, of: 30, local: 10 },
  'tight-clusters-of-10': { ...plain, of: 10, local: 3, overlap: 0.1 },
  'one-cloud': { ...plain, clusters: 1, overlap: 50 },
  latent: { ...plain, latent: 16 },
  decaying: { ...plain, overlap: 1.5, decay: 0.8 },
  narrow: { ...plain, clusters: 30, overlap: 0.15, decay: 0.5 },
  'heavy-tails': { ...plain, overlap: 0.7, tails: 2, local: 24 },
  copies: { ...plain, overlap: 0.8, local: 16, copies: 0.4 },
  twins: { ...plain, overlap: 1.5, local: 16, twins: 0.6 },
};

/** Number of clusters of a family with this many rows. */
export const clustersIn = (name, rows) =>
  families[name].of ? Math.round(rows / families[name].of) : families[name].clusters;

/** The cluster of row i: a hash, so that it need not be stored. */
export function clusterOf(row, clusters) {
  return new Random(Math.imul(row + 1, 0x9e3779b1)).integer(clusters);
}

/** Row-major unit vectors of a family. */
export function generateFamily(name, { rows, dimension, clusters }, random) {
  const shape = families[name];
  const axes = axesOf(shape, dimension, random);
  const centres = Array.from({ length: clusters }, () => point(axes, random));
  const subspaces = shape.local ? centres.map(() => subspace(shape.local, axes, random)) : undefined;
  const out = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row++) {
    const to = out.subarray(row * dimension, (row + 1) * dimension);
    const copied = row > 100 && random.uniform();
    if (copied !== false && copied < shape.copies + shape.twins) {
      const from = random.integer(row) * dimension;
      to.set(out.subarray(from, from + dimension));
      if (copied >= shape.copies) addNoise(to, 0.03, random);
    } else {
      const cluster = clusterOf(row, clusters);
      const residual = subspaces ? within(subspaces[cluster], random) : point(axes, random);
      const length = shape.overlap * tail(shape.tails, random);
      for (let i = 0; i < dimension; i++) to[i] = centres[cluster][i] + length * residual[i];
    }
    normalise(to);
  }
  return out;
}

/** Directions and their standard deviations: together of length 1. */
function axesOf({ latent, decay }, dimension, random) {
  const count = latent || dimension;
  const deviations = Float64Array.from({ length: count }, (_, i) => (i + 1) ** -decay);
  const length = Math.hypot(...deviations);
  const directions = latent ? Array.from({ length: latent }, () => direction(dimension, random)) : undefined;
  return { dimension, deviations: deviations.map((value) => value / length), directions };
}

function point({ dimension, deviations, directions }, random) {
  const values = new Float32Array(dimension);
  for (let j = 0; j < deviations.length; j++) {
    const value = deviations[j] * random.normal();
    if (directions) for (let i = 0; i < dimension; i++) values[i] += value * directions[j][i];
    else values[j] = value;
  }
  return values;
}

const subspace = (local, axes, random) =>
  Array.from({ length: local }, () => {
    const one = point(axes, random);
    normalise(one);
    return one;
  });

function within(directions, random) {
  const values = new Float32Array(directions[0].length);
  const scale = 1 / Math.sqrt(directions.length);
  for (const one of directions) {
    const value = scale * random.normal();
    for (let i = 0; i < values.length; i++) values[i] += value * one[i];
  }
  addNoise(values, 0.05, random);
  return values;
}

function direction(dimension, random) {
  const values = Float32Array.from({ length: dimension }, () => random.normal());
  normalise(values);
  return values;
}

/** Adds a vector of about this length. */
function addNoise(values, length, random) {
  const each = length / Math.sqrt(values.length);
  for (let i = 0; i < values.length; i++) values[i] += each * random.normal();
}

/** Returns a random length around 1, drawn from Student's t distribution if degrees of freedom are given. */
function tail(degrees, random) {
  if (degrees === 0) return 1;
  let squares = 0;
  for (let i = 0; i < degrees; i++) squares += random.normal() ** 2;
  return Math.min(1 / Math.sqrt(squares / degrees), 100);
}

function normalise(vector) {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const factor = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let i = 0; i < vector.length; i++) vector[i] *= factor;
}
