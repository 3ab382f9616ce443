// The tables of docs/scope.md: lines of hand-written code per room of the product, with its budget and its purpose.
// node scripts/scope.mjs --write   counts and writes the tables
// node scripts/scope.mjs --check   fails if a room exceeds its budget, a file is in no room, or the page is out of date
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parts, rooms, wings } from './scope/rooms.mjs';
import { markedPlace, withMarkedPlace } from './tool/marked-place.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const page = join(root, 'docs', 'scope.md');
const product = ['native', 'lib', 'src', 'web'];

/** Share by which a count may differ from the page before somebody writes the tables again. */
const staleness = 0.1;

await runScript('scope', (args) => {
  const [mode] = args;
  if (args.length !== 1 || (mode !== '--write' && mode !== '--check'))
    throw new Stop('say --check or --write');
  const files = countLines();
  const homeless = [...files.keys()].filter((file) => roomOf(file) === undefined);
  if (homeless.length > 0) throw new Stop(`${homeless[0]} is in no room of scripts/scope/rooms.mjs`);
  const sizes = rooms.map(([room, budget, askedBy, buys]) => {
    const lines = sum(files, (file) => roomOf(file) === room);
    if (lines === 0) throw new Stop(`${room} has no code: remove it from scripts/scope/rooms.mjs`);
    return { room, lines, budget, askedBy, buys };
  });
  const text = readFileSync(page, 'utf8');
  if (mode === '--write') {
    writeFileSync(page, tables(text, files, sizes));
    process.stdout.write('scope: docs/scope.md written\n');
    return;
  }
  const problems = [...overBudget(sizes), ...stale(text, files, sizes)];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) throw new Stop(`${problems.length} of ${rooms.length} rooms need a decision`);
  const lines = sum(files, () => true);
  process.stdout.write(`scope: ${rooms.length} rooms with ${lines} lines are within their budgets\n`);
});

/** Lines of each hand-written file of the product that git knows: generated and third-party code does not count. */
function countLines() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...product], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const own = listed.split('\n').filter((file) => /\.(cc|h|c?ts|tsx)$/.test(file) && !/\.gen\./.test(file));
  const counted = new Map();
  for (const file of own) {
    try {
      counted.set(file, readFileSync(join(root, file), 'utf8').split('\n').length - 1);
    } catch (error) {
      if (error.code !== 'ENOENT') throw error; // deleted, and not committed yet
    }
  }
  if (counted.size === 0) throw new Stop('git lists no code');
  return counted;
}

function roomOf(file) {
  return rooms.find(([room]) => file.startsWith(`${room}/`))?.[0];
}

function sum(files, isCounted) {
  return [...files].reduce((total, [file, lines]) => total + (isCounted(file) ? lines : 0), 0);
}

function overBudget(sizes) {
  return sizes
    .filter(({ lines, budget }) => lines > budget)
    .map(
      ({ room, lines, budget }) =>
        `${room} has ${lines} lines and a budget of ${budget}: delete some, or raise the budget in scripts/scope/rooms.mjs and say what they buy`,
    );
}

/** The page is out of date if its text differs in anything but counts, or a count by more than `staleness`. */
function stale(text, files, sizes) {
  const written = markedPlace(page, text, 'rooms');
  const problems = [];
  for (const { room, lines } of sizes) {
    const shown = new RegExp(`^\\| ${room} \\| (\\d+) \\|`, 'm').exec(written)?.[1];
    if (shown === undefined || Math.abs(Number(shown) - lines) > Math.max(100, staleness * lines))
      problems.push(
        `docs/scope.md gives ${room} ${shown ?? 'no'} lines, and it has ${lines}: run node scripts/scope.mjs --write`,
      );
  }
  const shape = (content) => content.replace(/\| \d+ \|/g, '| N |').replace(/\*\*\d+\*\*/g, '**N**');
  if (problems.length === 0 && shape(tables(text, files, sizes)) !== shape(text))
    problems.push('docs/scope.md differs from scripts/scope/rooms.mjs: run node scripts/scope.mjs --write');
  return problems;
}

function tables(text, files, sizes) {
  const total = sizes.reduce((lines, size) => lines + size.lines, 0);
  const roomsTable = [
    '| Room | Lines | Budget | Asked for by | Lost without it |',
    '|---|---|---|---|---|',
    ...sizes.map(
      ({ room, lines, budget, askedBy, buys }) => `| ${room} | ${lines} | ${budget} | ${askedBy} | ${buys} |`,
    ),
    `| all | **${total}** | | | |`,
  ];
  const partsTable = [
    '| Part | Lines | May it go? | Reason |',
    '|---|---|---|---|',
    ...parts.map(([name, pattern, advice, reason]) => {
      const lines = sum(files, (file) => pattern.test(file));
      if (lines === 0) throw new Stop(`no file belongs to the part "${name}" of scripts/scope/rooms.mjs`);
      return `| ${name} | ${lines} | ${advice} | ${reason} |`;
    }),
  ];
  const wingsTable = [
    '| Wing | Place | Budget | Buys |',
    '|---|---|---|---|',
    ...wings.map(([name, place, budget, buys]) => `| ${name} | ${place} | ${budget} | ${buys} |`),
  ];
  return [
    ['rooms', roomsTable],
    ['parts', partsTable],
    ['wings', wingsTable],
  ].reduce((page_, [name, lines]) => withMarkedPlace(page, page_, name, lines.join('\n')), text);
}
