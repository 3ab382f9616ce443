import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordsInput } from '../../src/cli/records/records-input.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();

const read = (content: string | Uint8Array) => {
  writeFileSync(inFolder('r.json'), content);
  return recordsInput([inFolder('r.json')], {});
};

test('records are read from an array, one record, or a record per line, with exact integers', async () => {
  const record = { id: 'a', text: 'x' };
  expect(await read('\uFEFF[\r\n{"id":"a","text":"x"}\r\n]')).toEqual([record]);
  expect(await read('{"id":"a",\n"text":"x"}')).toEqual([record]);
  expect(await read('{"id":"a","text":"x"}\r\n\r\n{"id":"b","text":"y"}\r\n')).toHaveLength(2);
  const [wide] = await read('{"id":"a","text":"x","metadata":{"n":9007199254740993}}');
  expect(wide?.metadata).toEqual({ n: 9007199254740993n });
});

test('nothing of a file is lost or replaced in silence', async () => {
  await expect(read('[{"id":"a","text":"x","text":"y"}]')).rejects.toThrow(
    /r\.json:1:\d+: .*text: occurs twice/,
  );
  await expect(read('{"id":"a","text":"x"}\n{"id":"b","text":"y","id":"c"}')).rejects.toThrow(
    /r\.json:2:22: id: occurs twice/,
  );
  await expect(read(Buffer.from('[{"id":"a","text":"caf\xe9"}]', 'latin1'))).rejects.toThrow(/is not UTF-8/);
});

test('a file that cannot be read names the place and the limit', async () => {
  await expect(read('[\n{"id":"a","text":"x"},\n{"id" "b"}\n]')).rejects.toThrow(
    /r\.json:3:7: not valid JSON/,
  );
  await expect(read('{"id":"a","text":"x"}\nnone')).rejects.toThrow(/r\.json:2: JSON is expected/);
  await expect(read(`${'['.repeat(1e5)}${']'.repeat(1e5)}`)).rejects.toThrow(/nested deeper than 64 levels/);
});
