// How long a dear schema or grammar takes until it is refused: of many kinds, each larger than the one before, until one is refused.
//
//   node bench/grammar/refusals.mjs [PART OF A NAME]
//
// By bisection, the smallest that is refused and the largest that is taken are found, up to a tenth. Each of the two is then
// converted and checked as the first one of a new process, when little is compiled yet: the median and the longest of `starts`
// processes. `again` is the median of nine more in the same process. Times are by the clock, so the machine should be quiet, but
// `piece`, the longest time of the event loop's thread without a turn, which is processor time. The targets are 100 ms for refusals
// and 50 ms for pieces.
import { spawnSync } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkGrammar, schemaGrammar, threadMs } from '../../dist/lib/internal.js';
import { load, machine } from '../harness/machine.mjs';
import { median } from '../harness/numbers.mjs';
import { terminalTable } from '../harness/table.mjs';
import { kinds } from './refused-kinds.mjs';

const largest = 2560;
const starts = 9;

/** The refusal of a schema or a grammar, the milliseconds until then, and those of the longest piece of the conversion. */
async function answered(given) {
  const begin = performance.now();
  let [refusal, piece, begun] = [undefined, 0, threadMs()];
  const ended = () => {
    piece = Math.max(piece, threadMs() - begun);
  };
  const nextSlice = async () => {
    ended();
    await nextTurn();
    begun = threadMs();
  };
  try {
    const converted = typeof given === 'string' ? given : schemaGrammar(given, { nextSlice }).finally(ended);
    await checkGrammar(await converted);
  } catch (error) {
    refusal = error.message;
  }
  return { refusal, piece, ms: performance.now() - begin };
}

/** The largest size that is taken and the smallest that is refused, up to a tenth. */
async function limits(kind) {
  const isRefused = async (size) => (await answered(kinds[kind](size))).refusal !== undefined;
  let taken = 0;
  let refused = 5;
  while (!(await isRefused(refused))) {
    if (refused >= largest) return { taken: refused };
    taken = refused;
    refused *= 2;
  }
  while (refused - taken > refused / 10 && refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (await isRefused(middle)) refused = middle;
    else taken = middle;
  }
  return { taken, refused };
}

/** The times of one size, in this process. */
async function times(kind, size) {
  const given = kinds[kind](size);
  const { refusal, ms, piece } = await answered(given);
  const again = [];
  for (let round = 0; round < 9; round++) again.push((await answered(given)).ms);
  return { refusal, first: ms, piece, again: median(again) };
}

function inProcess(...args) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args}: ${stderr}`);
  return JSON.parse(stdout);
}

function measured(kind, size) {
  if (size === undefined || size === 0) return {};
  const runs = Array.from({ length: starts }, () => inProcess('--times', kind, String(size)));
  const firsts = runs.map(({ first }) => first);
  return {
    size,
    first: median(firsts),
    longest: Math.max(...firsts),
    piece: Math.min(...runs.map(({ piece }) => piece)),
    again: median(runs.map(({ again }) => again)),
    refusal: runs[0].refusal?.slice(0, 60),
  };
}

function row(kind) {
  const { taken, refused } = inProcess('--limits', kind);
  const [most, least] = [measured(kind, taken), measured(kind, refused)];
  return {
    name: kind,
    taken: most.size,
    takenFirst: most.first,
    takenLongest: most.longest,
    refused: least.size,
    first: least.first,
    longest: least.longest,
    piece: Math.max(most.piece ?? 0, least.piece ?? 0),
    again: least.again,
    refusal: least.refusal ?? 'never',
  };
}

const [argument = '', kind, size] = process.argv.slice(2);
if (argument === '--limits') console.log(JSON.stringify(await limits(kind)));
else if (argument === '--times') console.log(JSON.stringify(await times(kind, Number(size))));
else {
  const rows = Object.keys(kinds)
    .filter((name) => name.includes(argument))
    .map(row);
  console.log(JSON.stringify({ ...machine(), load: load() }));
  console.log(
    terminalTable({
      title: 'Schemas and grammars that are refused',
      columns: [
        { key: 'name', label: '' },
        { key: 'taken', label: 'taken', digits: 0 },
        { key: 'takenFirst', label: 'first, ms', digits: 0 },
        { key: 'takenLongest', label: 'longest, ms', digits: 0 },
        { key: 'refused', label: 'refused', digits: 0 },
        { key: 'first', label: 'first, ms', digits: 0 },
        { key: 'longest', label: 'longest, ms', digits: 0 },
        { key: 'again', label: 'again, ms', digits: 0 },
        { key: 'piece', label: 'piece, ms', digits: 0 },
        { key: 'refusal', label: 'refusal' },
      ],
      rows,
    }),
  );
}
