// Pipes, devices, sockets, folders and loops of links in place of the files that the server and its knowledge bases read: refused at once.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/cache.mjs';
import { connect } from '../../lorekeep.mjs';
import { Sample } from '../sample.mjs';
import { withServer } from './with-server.mjs';

const program = join(root, 'dist', 'src', 'cli', 'lorekeep.cjs');
const patienceMs = 10_000;
const kinds = {
  pipe: (path) => spawnSync('mkfifo', [path]),
  device: (path) => symlinkSync('/dev/zero', path),
  folder: (path) => mkdirSync(path),
  loop: (path) => symlinkSync(path, path),
};

export const specialFiles = {
  name: 'pipes, devices, folders and loops as files',
  async run({ folder, seed, short }) {
    const own = await new Sample(join(folder, 'special'), { seed, records: 20 }).write();
    await own.build();
    const total = {
      case: 'pipes, devices, folders and loops as files',
      unit: 'files',
      tried: 0,
      problems: [],
      crashes: 0,
      hangs: 0,
    };
    for (const [kind, make] of Object.entries(kinds).slice(0, short ? 1 : undefined)) {
      rmSync(own.at('special'), { recursive: true, force: true });
      make(own.at('special'));
      for (const what of await startUp(own)) total.problems.push(`${kind}: ${what}`);
      const seen = await asFiles(own);
      total.tried += 2 + seen.tried;
      total.crashes += seen.crashes;
      total.problems.push(...seen.problems.map((text) => `${kind}: ${text}`));
    }
    total.hangs = total.problems.filter((what) => what.includes('no answer')).length;
    await own.close();
    return total;
  },
};

/** As config and as catalog: the server does not start, and says which file. */
async function startUp(own) {
  own.writeJson('special-config.json', { port: 0, models_catalog_path: own.at('special') });
  const problems = [];
  for (const config of [own.at('special'), own.at('special-config.json')]) {
    const { status, stderr } = await ran([program, 'serve', '--config', config]);
    if (status === null)
      problems.push(
        `no answer as ${config === own.at('special') ? 'config' : 'catalog'} in ${patienceMs / 1000} s`,
      );
    else if (status === 0 || !stderr.includes('special'))
      problems.push(`start ended with ${status}: ${stderr.slice(0, 200)}`);
  }
  return problems;
}

function ran(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  return new Promise((done) => {
    child.once('close', (status) => {
      clearTimeout(timer);
      done({ status, stderr });
    });
  });
}

/** As the files of a knowledge base, and as the knowledge base. */
const asFiles = (own) =>
  withServer('special', own, {}, async ({ server, problem, count }) => {
    const client = await connect({ port: server.port });
    const session = await client.createSession();
    const fields = ['records_file', 'index_file', 'bm25_file', 'embeddings_file'];
    const config = { embedding_model: 'tiny', records_file: 'records.json' };
    for (const field of fields) own.writeJson(`special-${field}.json`, { ...config, [field]: 'special' });
    for (const path of ['special', ...fields.map((field) => `special-${field}.json`)]) {
      const made = session.createEmbeddedStringStorage({ name: `s${count()}`, configPath: path }).then(
        () => 'taken',
        (error) => error.code,
      );
      const late = new Promise((done) => setTimeout(() => done('late'), patienceMs).unref());
      const answer = await Promise.race([made, late]);
      if (answer === 'late') problem(`no answer to ${path} in ${patienceMs / 1000} s`);
      else if (answer === 'taken' && !/bm25|embeddings/.test(path)) problem(`${path} is taken`);
      else if (answer === 1009) problem(`${path} is an internal error`);
    }
    await client.close();
  });
