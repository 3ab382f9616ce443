// How soon `lorekeep mcp` answers its host: from the start of the process until the answers to `initialize` and to the first search,
// on an indexed folder. Stated by the clock and by the processor time of all threads until then (Linux). Builds take turns.
//
//   node bench/server/mcp-start.mjs [--records 10000] [--rounds 10] [--builds FOLDER,FOLDER]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cached, root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { readTexts } from '../harness/texts.mjs';
import { threadsMs } from './server-process.mjs';

const { values: options } = commandLine({
  options: {
    records: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    builds: { type: 'string', default: root },
  },
});
const rounds = Number(options.rounds);
const records = Number(options.records);
const builds = options.builds.split(',');

/** Sections of a file. */
const perFile = 20;

const folder = cached(`mcp-start-${records}`, 'notes');
const environment = { ...process.env, XDG_DATA_HOME: cached(`mcp-start-${records}`, 'state') };
const middle = (sorted) => sorted[Math.floor(sorted.length / 2)];
const program = (build) => join(build, 'dist', 'src', 'cli', 'main.js');

await makeFolder();
for (const build of builds)
  execFileSync(process.execPath, [program(build), 'index', folder, '--model', 'lorekeep-mini'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
const found = builds.map(() => []);
for (let round = 0; round < rounds; round++)
  for (const [index, build] of builds.entries()) found[index].push(await start(build));
console.log(
  '| build | initialize, ms | longest | processor ms | first search, ms | longest | processor ms |',
);
console.log('|---|--:|--:|--:|--:|--:|--:|');
for (const [index, build] of builds.entries()) console.log(row(build, found[index]));

async function makeFolder() {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true });
  const { texts } = await readTexts(records);
  for (let at = 0; at < records; at += perFile) {
    const sections = texts
      .slice(at, at + perFile)
      .map((text, n) => `## Part ${at + n}\n\n${text.replace(/\s+/g, ' ').slice(0, 400)}\n`);
    writeFileSync(join(folder, `notes-${at}.md`), `# Notes from ${at}\n\n${sections.join('\n')}`);
  }
}

/** One start: times in ms. */
async function start(build) {
  const begin = performance.now();
  const child = spawn(process.execPath, [program(build), 'mcp', folder], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answered = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('the server ended');
      const message = JSON.parse(value);
      if (message.id !== id) continue;
      if (message.error !== undefined || message.result.isError) throw new Error(value);
      return { ms: performance.now() - begin, processor: threadsMs(child.pid), result: message.result };
    }
  };
  const clientInfo = { name: 'bench', version: '1' };
  const first = await answered(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo,
  });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const search = await answered(2, 'tools/call', {
    name: 'search',
    arguments: { query: 'the history of the sea' },
  });
  child.stdin.end();
  await new Promise((done) => child.once('exit', done));
  return { first, search };
}

function row(build, starts) {
  const sorted = (part, key) => starts.map((one) => one[part][key]).sort((a, b) => a - b);
  const cells = ['first', 'search'].flatMap((part) => {
    const [ms, processor] = [sorted(part, 'ms'), sorted(part, 'processor')];
    return [middle(ms), ms.at(-1), middle(processor)].map((value) => value.toFixed(0));
  });
  return `| ${[build, ...cells].join(' | ')} |`;
}
