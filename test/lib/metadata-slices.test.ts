import { expect, it } from 'vitest';
import { Storage } from '../../lib/index.js';

const fields = [{ name: 'tags', type: 'set<string>', optional: true }] as const;
const tagsOf = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `t${from + n}`);
const build = (records: { id: string; text: string; metadata: { tags: string[] } }[]) =>
  Storage.build(records, new Float32Array(8 * records.length).fill(1), 8, { fields });

it('the event loop turns while many tags are converted', async () => {
  const records = Array.from({ length: 100 }, (_, n) => ({
    ...{ id: `${n}`, text: 'a' },
    metadata: { tags: tagsOf(900, 900 * n) },
  }));
  let turns = 0;
  let isBuilding = true;
  const count = () => {
    turns++;
    if (isBuilding) setImmediate(count);
  };
  setImmediate(count);
  const storage = await build(records);
  isBuilding = false;
  await storage.close();
  expect(turns).toBeGreaterThan(40);
});

it('the metadata of a record has at most 20,000 values, where long texts count as several', async () => {
  const record = (id: string, tags: string[]) => ({ id, text: 'a', metadata: { tags } });
  const others = { unknown: tagsOf(50_000) };
  const full = { ...record('a', tagsOf(19_999)), metadata: { tags: tagsOf(19_999), ...others } };
  await (await build([full])).close();
  await expect(build([record('a', ['x']), record('b', tagsOf(20_001))])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('record 1 ("b"): field "tags": expected at most 20000 values'),
  });
  const two = [...fields, { name: 'title', type: 'string', optional: true }] as const;
  const both = { id: 'c', text: 'a', metadata: { title: 'x'.repeat(512), tags: tagsOf(19_998) } };
  for (const order of [two, two.toReversed()])
    await expect(Storage.build([both], new Float32Array(8), 8, { fields: order })).rejects.toThrow(
      'record 0 ("c"): field "tags"',
    );
  await expect(
    build([
      record(
        'a',
        Array.from({ length: 90 }, () => 'x'.repeat(70_000)),
      ),
    ]),
  ).rejects.toThrow(/256 characters of a text count as one/);
});
