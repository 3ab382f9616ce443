import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { availableMemory } from '../../src/base/machine/available-memory.js';
import { ModelLimit } from '../../src/base/machine/model-limit.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
let roots = 0;

/** A folder with these files, as the root of the system. */
function system(files: Record<string, string>): string {
  const root = file(`root-${++roots}`);
  for (const [name, content] of Object.entries(files)) {
    const path = `${root}/${name}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return root;
}

describe('available memory', () => {
  test("is the machine's without control groups", () => {
    expect(availableMemory({ root: system({ 'proc/self/status': '' }), machine: 7000 })).toBe(7000);
  });

  test('is what the narrowest group above the process leaves, caches not counted', () => {
    const root = system({
      'proc/self/cgroup': '0::/user/service\n',
      'sys/fs/cgroup/user/service/memory.max': 'max\n',
      'sys/fs/cgroup/user/service/memory.current': '500\n',
      'sys/fs/cgroup/user/memory.max': '1000\n',
      'sys/fs/cgroup/user/memory.current': '900\n',
      'sys/fs/cgroup/user/memory.stat': 'anon 600\ninactive_file 300\nactive_file 0\n',
    });
    expect(availableMemory({ root, machine: 7000 })).toBe(400);
    expect(availableMemory({ root, machine: 300 })).toBe(300);
  });

  test('knows groups of version 1, and the root group of a container', () => {
    const root = system({
      'proc/self/cgroup': '12:cpu:/a\n4:memory:/docker/1\n0::/\n',
      'sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes': '9223372036854771712\n',
      'sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes': '100\n',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '2000\n',
      'sys/fs/cgroup/memory/memory.usage_in_bytes': '1500\n',
      'sys/fs/cgroup/memory/memory.stat': 'total_inactive_file 200\n',
    });
    expect(availableMemory({ root, machine: 7000 })).toBe(700);
  });

  test('of this machine is a number', () => {
    expect(availableMemory()).toBeGreaterThan(0);
  });
});

const mib = 1024 * 1024;

describe('the limit of models', () => {
  test("is the config's", () => {
    expect(new ModelLimit(300, () => 1).bytes(7, true)).toBe(300 * mib);
  });

  test('else what is free and what models have, and is measured only when no model comes or goes', () => {
    let [available, now] = [1000 * mib, 0];
    const limit = new ModelLimit(
      0,
      () => available,
      () => now,
    );
    expect(limit.bytes(0, true)).toBe(936 * mib);
    available = 700 * mib;
    expect(limit.bytes(0, false)).toBe(936 * mib);
    now = 1000;
    expect(limit.bytes(300 * mib, true)).toBe(936 * mib);
    now = 5000;
    available = 500 * mib;
    expect(limit.bytes(300 * mib, true)).toBe(736 * mib);
    available = 0;
    expect(limit.bytes(0, true)).toBe(0);
  });
});
