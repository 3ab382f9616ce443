// The attacks on memory in a small container: a control group where one can be made, else a limited heap.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAttack } from '../attacks/attacks.mjs';
import { attackList } from '../attacks/list.mjs';

const root = '/sys/fs/cgroup';
const mib = 1024 * 1024;

export const smallMemory = (limit) => ({
  name: `${limit} MiB of memory, all attacks`,
  longOnly: true,
  async run({ sample, seed, until }) {
    const group = controlGroup(limit);
    const heap = `--max-old-space-size=${Math.round(limit * 0.6)}`;
    const outcome = {
      case: `${limit} MiB of memory, all attacks`,
      unit: 'attacks',
      tried: 0,
      problems: [],
      crashes: 0,
      starved: 0,
    };
    const ms = Math.min(6000, ((until - Date.now()) / attackList.length) * 0.4);
    for (const attack of attackList) {
      if (Date.now() > until) break;
      const options = { ms, seed, settleMs: 200, wrapper: group?.wrapper, flags: group ? [] : [heap] };
      const seen = await runAttack(attack, sample, options).catch((error) => failed(error));
      outcome.tried++;
      outcome.crashes += seen.crashes;
      outcome.starved += seen.starved;
      outcome.problems.push(...seen.problems.map((what) => `${attack.name}: ${what}`));
    }
    group?.remove();
    outcome.note = group
      ? `in a control group (${group.version})`
      : `no control group could be made: ${heap} instead`;
    return outcome;
  },
});

const failed = (error) => ({ problems: [error.message.slice(0, 200)], crashes: 1, starved: 0 });

/** A group of processes with this much memory; undefined where none can be made. `wrapper` puts a program into it. */
function controlGroup(limit) {
  for (const { version, folder, file } of [
    { version: 'version 2', folder: root, file: 'memory.max' },
    { version: 'version 2', folder: join(root, 'unified'), file: 'memory.max' },
    { version: 'version 1', folder: join(root, 'memory'), file: 'memory.limit_in_bytes' },
  ]) {
    const path = join(folder, `lorekeep-${process.pid}`);
    try {
      if (!existsSync(folder)) continue;
      mkdirSync(path);
      if (!existsSync(join(path, file))) throw new Error('no control groups of memory');
      writeFileSync(join(path, file), String(limit * mib));
      if (Number(readFileSync(join(path, file), 'utf8')) !== limit * mib) throw new Error('not taken');
      const wrapper = ['sh', '-c', `echo $$ > ${path}/cgroup.procs && exec "$@"`, 'sh'];
      return { version, wrapper, remove: () => removed(path) };
    } catch {
      removed(path);
    }
  }
  return undefined;
}

function removed(path) {
  try {
    rmdirSync(path);
  } catch {
    // it was not made
  }
}
