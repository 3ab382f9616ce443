// Programs to kill, which write, each from a state that `prepare` puts the folder into. `refusals` are the errors that the state itself
// explains. Of programs with `logs`, which change records by the change log, readers may get the answers before and after; once the
// program has printed its result, those after it alone. `again` completes what the killed program began (default: the same command), and
// `gone` is a text that no file has once its record is forgotten.
import { copyFileSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/cache.mjs';
import { connect, openKnowledgeBase } from '../../lorekeep.mjs';

const program = join(root, 'dist', 'src', 'cli', 'main.js');
const build = ({ at }, config) => [
  process.execPath,
  program,
  'build',
  at(config),
  '--catalog',
  at('models.json'),
];
const change =
  (command, ...args) =>
  ({ at }) => [
    process.execPath,
    program,
    command,
    at('kb.json'),
    ...args.map((word) => (word.endsWith('.json') ? at(word) : word)),
    '--json',
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

const forgotten = 'r7';

/** Leaves changes in the log. */
async function changeRecords(sample) {
  const kb = await openKnowledgeBase(sample.at('kb.json'), { models: sample.models });
  const [first, second] = sample.changedRecords;
  await kb.update({ replace: [first], remove: ['r2'] });
  await kb.update({ add: [{ ...second, id: 'another' }], upsert: true });
  await kb.close();
}

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
  {
    name: 'changes, records added and replaced',
    logs: true,
    prepare(sample) {
      const batch = sample.changedRecords.slice(0, 20);
      sample.writeJson('batch.json', [...batch, { ...batch[0], id: 'another' }]);
    },
    command: change('add', 'batch.json', '--upsert'),
  },
  {
    name: 'changes, merged',
    logs: true,
    prepare: changeRecords,
    command: change('merge'),
  },
  {
    name: 'changes, a record forgotten',
    logs: true,
    prepare: changeRecords,
    command: change('forget', forgotten),
    again: change('merge'),
    gone: (sample) => sample.records.find(({ id }) => id === forgotten).text,
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
