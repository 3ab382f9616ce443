// A trial is a program: options in, one result out. Run by hand it prints its tables and writes bench/results/NAME.json; run by the
// suite it hands the result over. What a result is:
//
//   data     a sentence: what was measured on, with the seed of what was generated
//   tables   as in table.mjs, each with an id by which the docs know it
//   curves   [{chart, panel, series: [{name, points: [{x, y}]}]}], drawn by charts/
//   leftOut  [{name, reason}] peers that are not there
//   failed   [{name, reason}] contestants that fell on the way
//   detail   whatever else was measured
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cache.mjs';
import { commandLine, OptionError, refuseOption } from './command-line.mjs';
import { load, machine, versions } from './machine.mjs';
import { terminalTable } from './table.mjs';

export const resultsFolder = join(root, 'bench', 'results');

/**
 * @param options as parseArgs takes them; options with a number as default are numbers
 * @param body gets the values, gives the result
 */
export async function runTrial(name, options, body) {
  const bySuite = process.connected === true;
  if (bySuite) process.on('disconnect', () => process.exit(1));
  const values = readOptions(options);
  try {
    const result = { leftOut: [], failed: [], tables: [], curves: [], ...(await body(values)) };
    if (bySuite) await new Promise((sent) => process.send({ result }, sent));
    else deliver(name, result);
    process.exit(result.failed.length > 0 ? 1 : 0);
  } catch (error) {
    if (error instanceof OptionError) refuseOption(error.message);
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  }
}

function readOptions(options) {
  const specs = Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key,
      typeof value === 'boolean'
        ? { type: 'boolean', default: value }
        : { type: 'string', default: String(value) },
    ]),
  );
  const { values } = commandLine({ options: specs });
  for (const [key, value] of Object.entries(options)) {
    if (typeof value !== 'number') continue;
    const number = Number(values[key]);
    if (!Number.isFinite(number) || number < 0) refuseOption(`--${key} ${values[key]}: a number is expected`);
    values[key] = number;
  }
  return values;
}

function deliver(name, result) {
  if (result.data) console.log(`\n${result.data}`);
  for (const table of result.tables) console.log(`\n${terminalTable(table)}`);
  for (const { name: who, reason } of result.leftOut) console.log(`left out: ${who}, ${reason}`);
  for (const { name: who, reason } of result.failed) console.log(`failed: ${who}, ${reason}`);
  mkdirSync(resultsFolder, { recursive: true });
  const path = join(resultsFolder, `${name}.json`);
  const content = { trial: name, machine: machine(), versions: versions(), load: load(), ...result };
  writeFileSync(path, `${JSON.stringify(content, undefined, 1)}\n`);
  console.log(`\n${path}`);
}
