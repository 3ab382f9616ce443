// A full disk and a read-only one, each a file system of the server's own: it answers rightly, writes nothing where it must not, and leaves
// no half line in its log.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/cache.mjs';
import { connect } from '../../lorekeep.mjs';
import { Sample } from '../sample.mjs';
import { withServer } from './with-server.mjs';

/** Runs what follows with `mount` done before, seen by it alone. */
const mounted = (mount) => ['unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh'];
const program = join(root, 'dist', 'src', 'cli', 'main.js');

export const fullDisk = {
  name: 'full disk',
  async run({ sample, folder, seed }) {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const wrapper = mounted(`mount -t tmpfs -o size=64k tmpfs ${disk}`);
    const reason = impossible(wrapper);
    if (reason) return { case: 'full disk', skipped: reason };
    const own = await new Sample(join(folder, 'full'), { seed, records: sample.count }).write();
    // The log is on the full disk; the knowledge base's own files are not there and cannot be made.
    const settings = { logs_dir: disk, log_flush_on: 'trace', log_level: 'trace' };
    const outcome = await withServer(
      'full disk',
      own,
      { wrapper, settings, config: 'plain.json' },
      async (tools) => {
        const seen = join(`/proc/${tools.server.pid}/root`, disk);
        for (let round = 0; round < 3; round++) {
          fill(seen);
          await use(tools.server.port, own, tools.count);
          rmSync(join(seen, 'filler'));
          await use(tools.server.port, own, tools.count);
        }
        for (const line of readFileSync(join(seen, 'service.log'), 'utf8').split('\n').slice(0, -1))
          if (!isJson(line)) tools.problem(`the log has ${line.slice(0, 80)}`);
      },
    );
    await own.close();
    return outcome;
  },
};

export const readOnlyDisk = {
  name: 'read-only disk',
  async run({ sample, folder, seed }) {
    const own = await new Sample(join(folder, 'read-only'), { seed, records: sample.count }).write();
    const wrapper = mounted(
      `mount --bind ${own.folder} ${own.folder} && mount -o remount,ro,bind ${own.folder}`,
    );
    const reason = impossible(wrapper);
    if (reason) return { case: 'read-only disk', skipped: reason };
    const outcome = await withServer(
      'read-only disk',
      own,
      { wrapper, settings: { logs_dir: '' }, config: 'plain.json' },
      async (tools) => {
        for (let round = 0; round < 3; round++) await use(tools.server.port, own, tools.count);
      },
    );
    const names = readdirSync(own.folder);
    for (const name of names)
      if (/bm25|tmp|index|embeddings/.test(name)) outcome.problems.push(`${name} was written`);
    const [command, ...args] = [
      ...wrapper,
      process.execPath,
      program,
      'build',
      own.at('kb.json'),
      '--catalog',
      own.at('models.json'),
    ];
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status === 0 || !stderr.includes('kb.'))
      outcome.problems.push(`build ended with ${status}: ${stderr.slice(0, 200)}`);
    outcome.tried++;
    await own.close();
    return outcome;
  },
};

/** Why nothing can be mounted here. */
function impossible(wrapper) {
  const { status, stderr, error } = spawnSync(wrapper[0], [...wrapper.slice(1), 'true'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `nothing can be mounted here: ${(error?.message ?? stderr).trim()}`;
}

function fill(folder) {
  try {
    for (let n = 1; n < 100; n++) writeFileSync(join(folder, 'filler'), Buffer.alloc(n * 4096));
  } catch {
    // full now
  }
}

async function use(port, sample, count) {
  const client = await connect({ port });
  const session = await client.createSession();
  await session.createEmbeddedStringStorage({ name: 'own', configPath: 'plain.json' });
  for (const text of sample.questions) await session.search({ name: 'own', text, mode: 'hybrid' });
  await client.close();
  count();
}

function isJson(line) {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return line === '';
  }
}
