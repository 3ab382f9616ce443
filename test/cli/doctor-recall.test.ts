import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { lorekeep } from './command.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();

interface Finding {
  status: string;
  message: string;
  fix?: string;
}

/** What `lorekeep doctor` found out about the recall of a knowledge base. */
async function recallOf(kb: string): Promise<Finding[]> {
  const config = inFolder('server-config.json');
  writeFileSync(config, JSON.stringify({ port: 0 }));
  const { stdout, stderr } = await lorekeep(['doctor', kb, '--config', config, '--json']);
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as { findings: (Finding & { subject: string })[] };
  return findings.filter(({ subject }) => subject === 'recall').map(({ subject: _, ...finding }) => finding);
}

const ok = (message: string) => ({ status: 'ok', message });

describe('lorekeep doctor KB', () => {
  it('measures recall without a filter, and with those that keep any of its records', async () => {
    expect(await recallOf(writeSample(inFolder, { index_file: undefined }))).toEqual([
      ok('recall@10 1.000 without a filter'),
      ok('recall@10 1.000 if a filter keeps 50 % of the records at random'),
      ok('recall@10 1.000 if a filter keeps the nearest 50 % of the records'),
      ok('recall@10 1.000 if a filter keeps the farthest 50 % of the records'),
      ok('no change needed'),
    ]);
    const [first] = JSON.parse(readFileSync(inFolder('records.json'), 'utf8')) as object[];
    writeFileSync(inFolder('records.json'), JSON.stringify([first]));
    expect(await recallOf(inFolder('kb.json'))).toEqual([
      ok('recall@10 1.000 without a filter'),
      ok('no change needed'),
    ]);
  });

  it('says what is wrong where there is nothing to measure', async () => {
    const kb = writeSample(inFolder);
    const failure = async () => {
      const found = await recallOf(kb);
      expect(found).toMatchObject([{ status: 'failed', fix: expect.stringContaining('shows all mistakes') }]);
      return found[0]?.message;
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
  });
});
