import { describe, expect, test } from 'vitest';

const scripts = (path: string) => import(new URL(`../../scripts/${path}`, import.meta.url).href);
const { phase } = await scripts('tool/phase.mjs');
const { stepsDone } = await scripts('tool/native-tree.mjs');

/** Runs a phase of 70 s that reports after each 20 s, and returns what it wrote. */
async function written(terminal: { isTTY?: boolean; columns?: number }) {
  let text = '';
  let now = 0;
  const out = { ...terminal, write: (part: string) => (text += part) };
  const work = (report: (note: string) => void) => {
    for (const step of [1, 2, 3]) {
      now += 20_000;
      report(`${step} of 4 steps`);
    }
    now += 10_000;
    return '4 files';
  };
  await phase('compile', work, out, () => now);
  return text;
}

describe('a phase of a script', () => {
  test('writes how far it is to a log, at most every 30 s, and its time', async () => {
    expect(await written({})).toBe('compile           40 s  2 of 4 steps\ncompile     1 min 10 s  4 files\n');
  });

  test('shows how far it is in one line of a terminal, from its start', async () => {
    const lines = (await written({ isTTY: true, columns: 24 })).split('\r\x1b[K');
    expect(lines).toEqual([
      '',
      'compile          0.0 s ',
      'compile           20 s ',
      'compile           40 s ',
      'compile     1 min 00 s ',
      'compile     1 min 10 s  4 files\n',
    ]);
  });

  test('leaves no line behind when it fails', async () => {
    let text = '';
    const out = { isTTY: true, columns: 80, write: (part: string) => (text += part) };
    const fail = () => Promise.reject(new Error('no compiler'));
    await expect(phase('compile', fail, out)).rejects.toThrow('no compiler');
    expect(text.endsWith('\r\x1b[K')).toBe(true);
  });

  test('reads the steps of ninja and of make', () => {
    expect(stepsDone('[12/250] Building CXX object a.o')).toBe('12 of 250 steps');
    expect(stepsDone('[  5%] Building CXX object a.o')).toBe('5 %');
    expect(stepsDone('/usr/bin/c++ -c a.cc')).toBeUndefined();
  });
});
