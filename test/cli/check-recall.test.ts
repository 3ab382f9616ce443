import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

async function recallOf(
  kb: string,
): Promise<{ ok: boolean; notes: string[]; findings: { message: string }[] }> {
  const { stdout, stderr } = await lorekeep(['check', kb, '--recall', '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('lorekeep check --recall', () => {
  it('measures recall without a filter, and with filters that keep any of its records', async () => {
    const all = await recallOf(writeSample(inFolder, { index_file: undefined }));
    expect(all).toMatchObject({
      ok: true,
      findings: [],
      recall: [{ filter: 'none', recall: 1 }, {}, {}, {}],
    });
    expect(all.notes).toEqual([
      'recall@10 1.000 without a filter',
      'recall@10 1.000 if a filter keeps 50 % of the records at random',
      'recall@10 1.000 if a filter keeps the nearest 50 % of the records',
      'recall@10 1.000 if a filter keeps the farthest 50 % of the records',
    ]);
    const [first] = JSON.parse(readFileSync(inFolder('records.json'), 'utf8')) as object[];
    writeFileSync(inFolder('records.json'), JSON.stringify([first]));
    expect((await recallOf(inFolder('kb.json'))).notes).toEqual(['recall@10 1.000 without a filter']);
  });

  it('says what is wrong where there is nothing to measure', async () => {
    const kb = writeSample(inFolder);
    const failure = async () => {
      const found = await recallOf(kb);
      expect(found).toMatchObject({ ok: false, notes: [] });
      return found.findings[0]?.message;
    };
    expect(await failure()).toMatch(/kb\.index: .*build it: lorekeep build/);
    expect((await lorekeep(['build', kb])).status).toBe(0);
    const index = readFileSync(inFolder('kb.index'));
    index.writeUInt8(index.readUInt8(index.length - 1) ^ 1, index.length - 1);
    writeFileSync(inFolder('kb.index'), index);
    expect(await failure()).toMatch(/kb\.index: .*checksum.*build it again: lorekeep build/);
    writeFileSync(inFolder('kb.index'), index.subarray(0, 500));
    expect(await failure()).toMatch(/kb\.index: .*500 bytes.*build it again/);
    writeSample(inFolder, { index_file: undefined });
    writeFileSync(inFolder('records.json'), '[]');
    expect(await failure()).toMatch(/records\.json:1: expected at least one record/);
    const other = await lorekeep(['check', inFolder('records.json'), '--recall']);
    expect(other).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--recall: .* is a records file/),
    });
  });
});
