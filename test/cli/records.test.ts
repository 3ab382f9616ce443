import { rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

test('records are added, shown, removed, forgotten, merged and copied from the command line', async () => {
  const kb = writeSample(inFolder);
  expect((await lorekeep(['build', kb])).status).toBe(0);
  const run = async (args: readonly string[], stdin?: string) => {
    const { status, stdout, stderr } = await lorekeep(args, stdin === undefined ? {} : { stdin });
    return { status, stdout: stdout.trim(), stderr: stderr.trim() };
  };
  const json = async (args: readonly string[], stdin?: string) =>
    JSON.parse((await run([...args, '--json'], stdin)).stdout);
  const opening = `The museum opens at ten${', and closes late'.repeat(9)}.`;
  expect(await run(['add', kb, '--id', 'opening', '--text', opening])).toEqual({
    status: 0,
    stdout: '1 added; version 1 has 7 records',
    stderr: '',
  });
  const lines = '{"id":"a","text":"one lamp"}\n{"id":"b","text":"two lamps"}\n';
  expect(await json(['add', kb, '-'], lines)).toEqual({
    version: 2,
    added: 2,
    replaced: 0,
    removed: 0,
    size: 9,
  });
  writeFileSync(inFolder('more.json'), JSON.stringify([{ id: 'a', text: 'three lamps' }]));
  const again = await run(['add', kb, inFolder('more.json')]);
  expect(again).toMatchObject({ status: 1, stdout: '' });
  expect(again.stderr).toMatch(/^lorekeep: "a": a record with this id exists/);
  expect((await run(['add', kb, inFolder('more.json'), '--upsert'])).stdout).toMatch(
    /^1 replaced; version 3/,
  );
  expect(await json(['get', kb, 'a'])).toMatchObject({
    version: 3,
    records: [{ id: 'a', text: 'three lamps' }],
  });
  expect((await run(['get', kb, 'opening'])).stdout).toBe(`opening  ${opening}`);
  expect((await run(['get', kb, 'none'])).stderr).toMatch(/no record has the id "none"/);
  expect((await run(['remove', kb, 'b', '--if-version', '1'])).stderr).toMatch(/has version 3, not 1/);
  expect(await json(['remove', kb, 'b', '--if-version', '3'])).toMatchObject({
    version: 4,
    removed: 1,
    size: 8,
  });
  expect(await json(['list', kb, '--offset', '6'])).toMatchObject({
    version: 4,
    count: 8,
    records: [{ id: 'opening' }, { id: 'a' }],
  });
  expect((await run(['merge', kb])).stdout).toBe('the files have version 4 with 8 records');
  rmSync(inFolder('more.json'));
  expect((await run(['forget', kb, 'a', '--verify'])).stdout).toMatch(
    /^1 record forgotten; .*\nno file in the folders/,
  );
  expect((await run(['backup', kb, inFolder('copy')])).stdout).toMatch(/^version 5 copied; open it as /);
  expect(
    (await run(['search', inFolder('copy', 'kb.json'), 'museum', '--mode', 'lexical'])).stdout,
  ).toContain('opening');
}, 120_000);

test('a command whose batch makes a merge due ends when the files are merged', async () => {
  const kb = writeSample(inFolder, { long_text: 'truncate' });
  expect((await lorekeep(['build', kb])).status).toBe(0);
  const text = 'Lamps burn oil. '.repeat(60_000);
  const lines = Array.from({ length: 5 }, (_, n) => `${JSON.stringify({ id: `long${n}`, text })}\n`);
  const { stdout, stderr } = await lorekeep(['add', kb, '-'], { stdin: lines.join('') });
  expect({ stdout, stderr }).toMatchObject({
    stdout: expect.stringMatching(/^5 added; .* 11 records/),
    stderr: '',
  });
  expect(statSync(inFolder('records.json')).size).toBeGreaterThan(5 * text.length);
  expect(statSync(inFolder('records.json.changes')).size).toBeLessThan(1000);
}, 120_000);
