// Packages with a ggml of their own, and another version of lorekeep, in one process with it.
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer } from './project.mjs';

/** Loads a model and computes with both, in the order of the argument: `l` is lorekeep. */
const program = (load) => `
import { createRequire } from 'node:module';
import { CatalogModels, createStorage } from 'lorekeep/knowledge-base';
const model = createRequire(import.meta.url).resolve('lorekeep/package.json').replace('package.json', 'data/models/all-MiniLM-L6-v2.gguf');
const own = async () => {
  const models = await CatalogModels.open();
  const strings = ['The ferry leaves on Tuesdays.', 'Error E-4017 means that the lid is open.'];
  const storage = await createStorage({ strings, model: await models.resolve('all-MiniLM-L6-v2') });
  const { hits } = await storage.search({ text: 'When can I travel?', topK: 1 });
  await models.close();
  return hits[0].text;
};
const other = async () => {${load}};
const printed = [];
for (const each of process.argv[2]) printed.push(await (each === 'l' ? own() : other()));
console.log(printed.join('\\n'));
process.exit(0);
`;

const nodeLlama = program(`
  const { getLlama } = await import('node-llama-cpp');
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
  const loaded = await llama.loadModel({ modelPath: model });
  const context = await loaded.createEmbeddingContext();
  const { vector } = await context.getEmbeddingFor('a ferry');
  await loaded.dispose();
  return vector.length;
`);

const whisper = program(`
  const { loadWhisperModule } = await import('@fugood/whisper.node');
  return typeof (await loadWhisperModule('default')).WhisperContext;
`);

/** The package as it would be in another version: its libraries have other names, of the same length. */
function otherVersion(project) {
  const modules = join(project.path, 'node_modules');
  const { version } = JSON.parse(readFileSync(join(modules, 'lorekeep', 'package.json'), 'utf8'));
  const renamed = version.replace(/\d$/, (digit) => (digit === '9' ? '8' : '9'));
  const copy = join(modules, 'lorekeep-other');
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(modules, 'lorekeep'), copy, { recursive: true });
  const folder = join(copy, 'prebuilds', `${process.platform}-${process.arch}`);
  const [from, to] = [`lorekeep-${version}-`, `lorekeep-${renamed}-`];
  for (const name of readdirSync(folder).filter((each) => /\.(node|so|dll|dylib)$/.test(each))) {
    const bytes = readFileSync(join(folder, name));
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at)) bytes.write(to, at);
    writeFileSync(join(folder, name), bytes);
    renameSync(join(folder, name), join(folder, name.replace(from, to)));
  }
  project.write(
    'neighbour.mjs',
    program(`
      const { EmbeddingModel } = await import('./node_modules/lorekeep-other/dist/lib/index.js');
      const loaded = await EmbeddingModel.load(model, { runtime: 'llama.cpp' });
      const vectors = await loaded.embed(['a ferry']);
      await loaded.close();
      return vectors.length;
    `),
  );
}

const run = (project, order, env = {}) =>
  project.run(process.execPath, ['neighbour.mjs', order], { env: { ...project.env, ...env } });

function orders(write, other) {
  const ordered = (order) => (project) => {
    write(project);
    return run(project, order);
  };
  return {
    'lorekeep first': [ordered('lo'), `${answer}\n${other}`],
    'lorekeep second': [ordered('ol'), `${other}\n${answer}`],
    'in turns': [ordered('lolo'), `${answer}\n${other}\n${answer}\n${other}`],
  };
}

const ofNodeLlama = (version) => ({
  tool: `node-llama-cpp ${version}`,
  packages: [`node-llama-cpp@${version}`, `@node-llama-cpp/linux-x64@${version}`],
  tries: {
    ...orders((p) => p.write('neighbour.mjs', nodeLlama), 384),
    'its libraries in LD_LIBRARY_PATH': [
      (p) => {
        p.write('neighbour.mjs', nodeLlama);
        const bins = join(p.path, 'node_modules', '@node-llama-cpp', 'linux-x64', 'bins', 'linux-x64');
        return run(p, 'l', { LD_LIBRARY_PATH: bins });
      },
      answer,
    ],
  },
});

export const neighbours = [
  ofNodeLlama('3.14.2'),
  ofNodeLlama('3.22.1'),
  {
    tool: 'whisper.node',
    packages: ['@fugood/whisper.node', '@fugood/node-whisper-linux-x64'],
    tries: orders((p) => p.write('neighbour.mjs', whisper), 'function'),
  },
  { tool: 'another lorekeep', packages: [], tries: orders(otherVersion, 384) },
];
