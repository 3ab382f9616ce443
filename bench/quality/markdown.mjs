// Processor time of reading the worst inputs for parsers of Markdown, and its growth per doubling: the median of some runs, in turns,
// from 15,000 characters on. Exits with 1 if one grows more than 2.5 times. Caveats: a busy machine disturbs times below 20 ms.
//
//   node bench/quality/markdown.mjs [--characters 15000] [--doublings 3] [--rounds 5]
import { readMarkdown } from '../../dist/src/documents/formats/markdown/markdown.js';
import { worstMarkdown } from '../../test/helpers/worst-markdown.mjs';
import { commandLine } from '../harness/command-line.mjs';

const { values: options } = commandLine({
  options: {
    characters: { type: 'string', default: '15000' },
    doublings: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
  },
});
const [characters, doublings, rounds] = ['characters', 'doublings', 'rounds'].map((name) =>
  Number(options[name]),
);
const most = 2.5;
/** Shorter times are the clock's grain and the collection of garbage. */
const shortestMs = 20;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function milliseconds(text) {
  const before = process.cpuUsage();
  for (const _ of readMarkdown(text).sections);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

console.log('| input | ms | ms of the longest | growth per doubling |');
console.log('|---|--:|--:|--:|');
let isOver = false;
for (const [name, textOf] of Object.entries(worstMarkdown)) {
  const texts = [textOf(characters), textOf(characters * 2 ** doublings)];
  const times = [[], []];
  for (let round = 0; round < rounds; round++)
    for (const [at, text] of texts.entries()) times[at].push(milliseconds(text));
  const [short, long] = times.map(median);
  const growth = (Math.max(long, shortestMs) / Math.max(short, shortestMs)) ** (1 / doublings);
  if (growth > most) isOver = true;
  console.log(`| ${name} | ${short.toFixed(1)} | ${long.toFixed(1)} | ${growth.toFixed(2)} |`);
}
process.exitCode = isOver ? 1 : 0;
