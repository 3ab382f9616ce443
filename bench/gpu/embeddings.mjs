// Embeddings of the shipped MiniLM per second, at three lengths of text, all texts in one call.
import { join } from 'node:path';
import { own } from '../generation/contestants.mjs';
import { addAbsent } from '../generation/parts.mjs';
import { root } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { comparedColumns, peer } from './compared.mjs';

const model = join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf');
/** Words of a text, about as many tokens, and the share of `texts` that has them. */
const lengths = [
  [16, 1],
  [128, 1 / 4],
  [400, 1 / 16],
];
const asked = 0.97;

const contestant = (name) => new URL(`../embedding/contestants/${name}.mjs`, import.meta.url);

/** Adds the table "gpu-embeddings". */
export async function embeddings(
  { backend, server, threads, rounds, limit, texts: most, late, record },
  result,
) {
  const load = { placement: 'vram' };
  const list = [
    { name: own, module: contestant('lorekeep'), options: { model, load, backend }, peer: false },
  ];
  const options = { model, program: server, cores: threads, pooling: 'mean' };
  if (server) list.push({ name: peer, module: contestant('llama-server'), options });
  const contestants = await Contestants.start(list);
  const configurations = new Map();
  await contestants.each(
    'configurations',
    () => ({}),
    (name, names) => configurations.set(name, names.at(2) ?? names[0]),
  );
  const rows = [];
  for (const [words, share] of lengths) {
    const count = Math.ceil(most * share);
    const texts = Array.from({ length: count }, (_, text) => textOf(words, text));
    const perSecond = new Map();
    for (let round = -1; round < rounds && !(round > 0 && late()); round++) {
      await contestants.each(
        'bulk',
        (name) => ({ texts, configuration: configurations.get(name) }),
        (name, { seconds }) => {
          if (round >= 0) perSecond.set(name, [...(perSecond.get(name) ?? []), count / seconds]);
        },
        limit,
      );
    }
    rows.push(rowOf(`${count} texts of ${words} words`, perSecond));
    record(rows.at(-1));
  }
  contestants.end();
  addAbsent(result, contestants);
  result.tables.push(table(rows));
}

const textOf = (words, text) =>
  Array.from(
    { length: words },
    (_, word) => ['bread', 'lamp', 'oven', 'keeper', 'storm'][(word * (text + 3)) % 5],
  ).join(' ');

function rowOf(row, perSecond) {
  const [mine, theirs] = [perSecond.get(own) ?? [], perSecond.get(peer) ?? []];
  const ratios = mine.slice(0, theirs.length).map((speed, round) => speed / theirs[round]);
  const of = (list) => (list.length > 0 ? median(list) : undefined);
  return { row, own: of(mine), peer: of(theirs), ratio: of(ratios), asked, rounds: mine.length };
}

const table = (rows) => ({
  id: 'gpu-embeddings',
  title: 'Texts per second on the GPU, all-MiniLM-L6-v2 in F16',
  columns: comparedColumns,
  rows,
});
