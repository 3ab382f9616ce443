// Who takes part in the trials of vectors. "best of usearch" is not known beforehand, so its number types are contestants each.
import { OptionError } from '../harness/command-line.mjs';

const module = (file) => new URL(`contestants/${file}`, import.meta.url);

const peers = {
  hnswlib: { name: 'hnswlib-node', module: module('hnswlib.mjs') },
  usearch: { name: 'usearch f32', module: module('usearch.mjs'), options: { quantization: 'f32' } },
  'usearch-f16': { name: 'usearch f16', module: module('usearch.mjs'), options: { quantization: 'f16' } },
  'usearch-i8': { name: 'usearch i8', module: module('usearch.mjs'), options: { quantization: 'i8' } },
  lancedb: { name: 'LanceDB', module: module('lancedb.mjs') },
};

export const ours = (set, name = 'lorekeep', options = {}) => ({
  name,
  module: module('lorekeep.mjs'),
  options: { set, ...options },
  peer: false,
});

/** @param names comma-separated keys of the peers above, or nothing */
export function peersNamed(names, set) {
  return names
    .split(',')
    .filter(Boolean)
    .map((name) => {
      const peer = peers[name];
      if (!peer) throw new OptionError(`--peers ${name}: ${Object.keys(peers).join(', ')} are there`);
      return { ...peer, options: { set, ...peer.options } };
    });
}
