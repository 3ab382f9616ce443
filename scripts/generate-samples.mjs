// Runs what README.md and the pages of docs/ show the output of, and puts the output between the lines
// `<!-- begin NAME -->` and `<!-- end NAME -->` (`npm run build` first). --check compares by value: words and integers are
// equal, fractions agree within 1 %, and only measured times may differ. It also refuses blocks of output that nothing makes.
// node scripts/generate-samples.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { otherwiseChecked, outputBlocks } from './samples/blocks.mjs';
import { commandLineSamples, configurationSample, terminalSample } from './samples/command-line.mjs';
import { isSameOutput } from './samples/compare.mjs';
import { filterSample } from './samples/filters.mjs';
import { agentSample, errorSample, protocolSample, readySample } from './samples/frames.mjs';
import { terminalPicture, textOfPicture } from './samples/picture.mjs';
import { SampleFolder } from './samples/sample-folder.mjs';
import { markedPlace, withMarkedPlace } from './tool/marked-place.mjs';
import { root } from './tool/project.mjs';
import { sourceFiles } from './tool/sources.mjs';
import { runScript, Stop } from './tool/stop.mjs';

// Neither a developer's settings nor npx's may change a page.
for (const name of Object.keys(process.env)) if (/^(LOREKEEP_|npm_)/.test(name)) delete process.env[name];

await runScript('generate-samples', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  if (!existsSync(join(root, 'dist', 'src'))) throw new Stop('dist/ is not there: run `npm run build` first');
  requireMarks();
  const folder = new SampleFolder();
  try {
    for (const [file, samples] of Object.entries(await allSamples(folder)))
      update(file, samples, values.write);
    updatePicture(terminalPicture(await terminalSample(folder), 84), values.write);
  } finally {
    folder.remove();
  }
  process.stdout.write(`generate-samples: ${values.write ? 'written' : 'current'}\n`);
});

async function allSamples(folder) {
  const exchange = unfenced('docs/reference/protocol.md', 'sample of an exchange');
  const turns = unfenced('docs/reference/agents.md', 'sample of turns');
  const ready = unfenced('docs/guides/shipping.md', 'sample of the first line');
  const [graph] = /(?<=```json\n).*?(?=```)/s.exec(read('docs/reference/agents.md'));
  return {
    'README.md': await example(folder, 'quickstart.mjs'),
    'docs/reference/cli.md': fenceAll(await commandLineSamples(folder)),
    'docs/reference/protocol.md': { 'sample of an exchange': fence(await protocolSample(folder, exchange)) },
    'docs/reference/agents.md': { 'sample of turns': fence(await agentSample(folder, graph, turns)) },
    'docs/reference/errors.md': { 'sample of an error': fence(await errorSample(folder), 'json') },
    'docs/reference/filters.md': { 'sample of errors': fence(await filterSample()) },
    'docs/reference/configuration.md': { 'sample of an error': fence(await configurationSample(folder)) },
    'docs/guides/shipping.md': {
      'sample of the first line': fence(await readySample(folder, ready)),
    },
  };
}

function read(file) {
  return readFileSync(join(root, file), 'utf8');
}

function unfenced(file, name) {
  return markedPlace(file, read(file), name).replace(/^```\w*\n|\n```$/g, '');
}

/** Every block without a language is output. Output that no sample makes would go stale in silence. */
function requireMarks() {
  for (const file of ['README.md', ...sourceFiles(root, ['docs'], ['.md'])]) {
    const known = Object.keys(otherwiseChecked[file] ?? {});
    for (const { text, marked } of outputBlocks(read(file))) {
      const [first] = text.split('\n');
      if (marked || known.includes(first)) continue;
      throw new Stop(
        `${file}: nothing makes the output that begins with "${first}"; give the block a language if it is none`,
      );
    }
  }
}

function update(file, samples, write) {
  let text = read(file);
  for (const [name, sample] of Object.entries(samples)) {
    const shown = markedPlace(file, text, name);
    if (isSameOutput(shown, sample)) continue;
    if (!write) {
      throw new Stop(
        `${file}: the ${name} is out of date; \`node scripts/generate-samples.mjs --write\` makes it anew:\n${sample}`,
      );
    }
    text = withMarkedPlace(file, text, name, sample);
  }
  if (write) writeFileSync(join(root, file), text);
}

/** The picture of README.md is compared by its text. */
function updatePicture(picture, write) {
  const file = join(root, 'docs', 'terminal.svg');
  const shown = existsSync(file) ? textOfPicture(readFileSync(file, 'utf8')) : '';
  if (isSameOutput(shown, textOfPicture(picture))) return;
  if (!write) {
    throw new Stop(
      'docs/terminal.svg is out of date; `node scripts/generate-samples.mjs --write` draws it anew',
    );
  }
  writeFileSync(file, picture);
}

function fence(text, language = '') {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function fenceAll(samples) {
  return Object.fromEntries(Object.entries(samples).map(([name, text]) => [name, fence(text)]));
}

/** Source and output of an example. */
async function example(folder, name) {
  const file = join(root, 'examples', name);
  return {
    'source of the example': fence(readFileSync(file, 'utf8'), 'js'),
    'sample of the example': fence(await folder.node(file, [])),
  };
}
