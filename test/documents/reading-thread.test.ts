/** Files are read on a thread, which is ended when one takes more than its share. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type ReadingShare,
  ReadingThread,
  readingShare,
} from '../../src/knowledge/folder/reading/reading-thread.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const chunking = { size: 400, overlap: 0 };

async function bodies(thread: ReadingThread, name: string, content: string | Buffer): Promise<string[]> {
  writeFileSync(file(name), content);
  const found: string[] = [];
  const request = { path: file(name), bytes: content.length, mapping: undefined, chunking };
  for await (const { body } of thread.read(request)) found.push(body);
  return found;
}

const share = (changed: Partial<ReadingShare>): ReadingShare => ({ ...readingShare, ...changed });

test('a file is cut, in batches', async () => {
  await using thread = new ReadingThread(undefined);
  const paragraphs = Array.from({ length: 5000 }, (_, at) => `## ${at}\n\nText ${at}.`);
  const found = await bodies(thread, 'a.md', paragraphs.join('\n\n'));
  expect(found).toHaveLength(5000);
  expect(found.at(-1)).toBe('Text 4999.');
});

test('a file that takes more than its share of time is refused, and the next one is read', async () => {
  await using thread = new ReadingThread(undefined, share({ ms: 1500, msPerMebibyte: 0, bytes: 2 ** 40 }));
  const long = '[a](<b'.repeat(8_000_000);
  await expect(bodies(thread, 'slow.md', long)).rejects.toThrow(/more than its share of time/);
  expect(await bodies(thread, 'b.md', 'Fine.')).toEqual(['Fine.']);
});

test('a file that takes more than its share of memory is refused, and the next one is read', async () => {
  await using thread = new ReadingThread(
    undefined,
    share({ bytes: 200 * 2 ** 20, bytesPerByte: 0, ms: 600_000 }),
  );
  await expect(bodies(thread, 'wide.md', 'a\n\n'.repeat(3_000_000))).rejects.toThrow(
    /more than its share of memory/,
  );
  expect(await bodies(thread, 'b.md', 'Fine.')).toEqual(['Fine.']);
});

test('a file that gives more than its share of text is indexed up to there, and the next one is read', async () => {
  await using thread = new ReadingThread(undefined, share({ characters: 500_000, charactersPerByte: 0 }));
  const found: string[] = [];
  const reading = async () => {
    writeFileSync(file('long.txt'), 'Bees dance. '.repeat(100_000));
    const request = { path: file('long.txt'), bytes: 1, mapping: undefined, chunking };
    for await (const { body } of thread.read(request)) found.push(body);
  };
  await expect(reading()).rejects.toThrow('takes more than its share of text: 500000 characters');
  const length = found.join('').length;
  expect(length).toBeGreaterThan(0);
  expect(length).toBeLessThanOrEqual(500_000);
  expect(await bodies(thread, 'b.md', 'Fine.')).toEqual(['Fine.']);
});

test('an abort ends the thread while it reads', async () => {
  const stop = new AbortController();
  await using thread = new ReadingThread(stop.signal);
  const reading = bodies(thread, 'slow.md', 'a\n\n'.repeat(6_000_000));
  setImmediate(() => stop.abort(new Error('enough')));
  await expect(reading).rejects.toThrow('enough');
});

test('what a reader says about a file is its reason', async () => {
  await using thread = new ReadingThread(undefined);
  await expect(bodies(thread, 'x.md', Buffer.from([1, 0, 2]))).rejects.toThrow('is a binary file, not text');
  await expect(bodies(thread, 'x.ipynb', '[')).rejects.toThrow('is not a notebook');
});
