// Runs the commands of README.md, docs/cli.md and docs/demo.md whose output these show, and puts the output between the lines
// `<!-- begin NAME -->` and `<!-- end NAME -->` (`npm run build` first). Numbers differ from run to run, so --check looks at all else.
// node scripts/generate-samples.mjs --check | --write
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './tool/command.mjs';
import { markedPlace, withMarkedPlace } from './tool/marked-place.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const searchCommand =
  'search knowledge/harbour/kb.json "who lights the lamp at night?" --config server-config.json --top-k 2';

await runScript('generate-samples', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  if (!existsSync(join(root, 'dist', 'src'))) throw new Stop('dist/ is not there: run `npm run build` first');
  // What the sample shows is a first run's.
  if (values.write) rmSync(join(root, '.cache', 'demo'), { recursive: true, force: true });
  const hits = await harbourHits();
  const pages = {
    'docs/cli.md': { 'sample of search': fence(`$ lorekeep ${searchCommand}\n${hits}`) },
    'README.md': await example('quickstart.mjs'),
    'docs/demo.md': { ...(await example('search.mjs')), 'sample of npm start': fence(await demonstration()) },
  };
  for (const [file, samples] of Object.entries(pages)) update(file, samples, values.write);
  process.stdout.write(`generate-samples: ${values.write ? 'written' : 'current'}\n`);
});

function update(file, samples, write) {
  const path = join(root, file);
  let text = readFileSync(path, 'utf8');
  for (const [name, sample] of Object.entries(samples)) {
    const shown = markedPlace(file, text, name);
    if (!write && withoutNumbers(shown) !== withoutNumbers(sample)) {
      throw new Stop(
        `${file}: the ${name} is out of date; \`node scripts/generate-samples.mjs --write\` makes it anew`,
      );
    }
    text = withMarkedPlace(file, text, name, sample);
  }
  if (write) writeFileSync(path, text);
}

/** Columns are as wide as their numbers; a second run uses what the first has built. */
function withoutNumbers(text) {
  return text
    .replace(/\d+(\.\d+)?/g, '0')
    .replace(/ +/g, ' ')
    .replace('built before', 'built in 0 ms');
}

function fence(text, language = '') {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** Source and output of an example. */
async function example(name) {
  return {
    'source of the example': fence(readFileSync(join(root, 'examples', name), 'utf8'), 'js'),
    'sample of the example': fence(await node(`examples/${name}`)),
  };
}

/** What `npm start` prints once it has set everything up, with the port that it takes by itself. */
async function demonstration() {
  const output = await node('dist/src/demo/main.js', '--once', '--port', '0');
  const [, port] = /listening on 127\.0\.0\.1:(\d+)/.exec(output) ?? [];
  const last = `\nserver stays up on 127.0.0.1:${port}; press Ctrl-C to stop\n`;
  return `${output}${last}`.replaceAll(`127.0.0.1:${port}`, '127.0.0.1:9100');
}

/** What the search of the first five minutes prints. */
async function harbourHits() {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-samples-'));
  try {
    await lorekeep(folder, 'init', 'lore');
    const lore = join(folder, 'lore');
    await lorekeep(lore, 'build', 'knowledge/harbour/kb.json', '--config', 'server-config.json', '--json');
    return await lorekeep(lore, ...words(searchCommand));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A command line as a shell splits it: double quotes keep words together. */
function words(line) {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

function lorekeep(cwd, ...args) {
  return output(cwd, join(root, 'dist', 'src', 'cli', 'main.js'), ...args);
}

function node(file, ...args) {
  return output(root, join(root, file), ...args);
}

async function output(cwd, file, ...args) {
  // Without a language model, whatever this machine has.
  const LOREKEEP_MODELS = join(root, '.cache', 'no-models');
  const env = { COLUMNS: '100', NO_COLOR: '1', LOREKEEP_CONFIG: '', LOREKEEP_PORT: '', LOREKEEP_MODELS };
  return (await run(process.execPath, [file, ...args], { cwd, env, quiet: true })).output;
}
