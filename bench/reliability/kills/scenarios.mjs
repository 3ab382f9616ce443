// Programs to kill, which write, each from a state that `prepare` puts the folder into. `answers` are the answers that a reader may get
// meanwhile, `refusals` the errors that the state itself explains.
import { copyFileSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/cache.mjs';
import { connect } from '../../lorekeep.mjs';

const program = join(root, 'dist', 'src', 'cli', 'main.js');
const build = ({ at }, config) => [
  process.execPath,
  program,
  'build',
  at(config),
  '--catalog',
  at('models.json'),
];
const serve = ({ at }) => [process.execPath, program, 'serve', '--config', at('server-config.json')];
const absent =
  (...names) =>
  (sample) => {
    for (const name of names) rmSync(sample.at(name), { force: true, recursive: true });
  };
const damage = (path) => {
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)] ^= 0x10;
  writeFileSync(path, bytes);
};
const oldSidecar = join(root, 'test', 'compat', 'knowledge-base', 'version-1.bm25');

export const scenarios = [
  {
    name: 'first build',
    prepare: absent('kb.index', 'kb.bm25', 'kb.embeddings'),
    command: (sample) => build(sample, 'kb.json'),
    refusals: { 'kb.json': ['NOT_FOUND'] },
  },
  {
    name: 'build over what is there',
    prepare: (sample) => utimesSync(sample.at('kb.bm25'), 0, 0),
    command: (sample) => build(sample, 'kb.json'),
  },
  {
    name: 'build over damaged files',
    prepare(sample) {
      damage(sample.at('kb.bm25'));
      damage(sample.at('kb.embeddings'));
    },
    command: (sample) => build(sample, 'kb.json'),
  },
  {
    name: 'build of changed records',
    changed: true,
    prepare: (sample) => sample.writeJson('records.json', sample.changedRecords),
    command: (sample) => build(sample, 'kb.json'),
    refusals: { 'kb.json': ['UNSUPPORTED'] },
  },
  {
    name: 'server, first load',
    serves: true,
    prepare: absent('plain.bm25', 'kb.bm25', 'cache', 'logs'),
    command: serve,
  },
  {
    name: 'server, sidecars of version 1',
    serves: true,
    prepare(sample) {
      copyFileSync(oldSidecar, sample.at('plain.bm25'));
      copyFileSync(oldSidecar, sample.at('kb.bm25'));
      absent('cache', 'logs')(sample);
    },
    command: serve,
  },
];

/** The requests of clients until the server dies: both knowledge bases are loaded. */
export async function converse(port) {
  const client = await connect({ port });
  try {
    const session = await client.createSession();
    const names = ['plain.json', 'kb.json'];
    await Promise.all(
      names.map((path, n) => session.createEmbeddedStringStorage({ name: `s${n}`, configPath: path })),
    );
    await session.search({ name: 's0', text: 'any', mode: 'hybrid' });
  } finally {
    await client.close();
  }
}
