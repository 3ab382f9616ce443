import { toUSVString } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Chunk, chunksOf, type Fits } from '../../src/documents/chunks.js';
import { readMarkdown } from '../../src/documents/formats/markdown/markdown.js';
import { readText } from '../../src/documents/formats/text.js';
import { piecesOf } from '../../src/documents/pieces.js';
import { random, testSeed } from '../helpers/random.js';

const everythingFits: Fits = async () => 'fits';

async function chunks(
  document: Parameters<typeof chunksOf>[0],
  { size = 300, overlap = 0, fits = everythingFits } = {},
): Promise<Chunk[]> {
  const all: Chunk[] = [];
  for await (const chunk of chunksOf(document, { size, overlap }, fits)) all.push(chunk);
  return all;
}

describe('chunksOf', () => {
  // Searching back for a space to the beginning of the text would take minutes.
  test('cuts tens of megabytes without a space', () => {
    const text = 'x'.repeat(48_000_000);
    const pieces = piecesOf({ kind: 'prose', text }, 1000);
    expect(pieces.length).toBe(48_000);
    expect(pieces.every((piece) => piece.text.length === 1000)).toBe(true);
  });

  test('puts title and headings above each passage, and names page and heading', async () => {
    const [first, second] = await chunks(
      readMarkdown('# Guide\n\nHello.\n\n## Install\n\n### Linux\n\nRun it.'),
    );
    expect(first).toMatchObject({
      anchor: 'guide',
      text: 'Guide\n\nHello.',
      title: 'Guide',
      heading: undefined,
    });
    expect(second).toMatchObject({
      anchor: 'linux',
      text: 'Guide > Install > Linux\n\nRun it.',
      heading: 'Install > Linux',
    });
  });

  test('cuts a long section into chunks of similar sizes that keep every word in order', async () => {
    console.log(`seed ${testSeed}`);
    const next = random(testSeed);
    for (let trial = 0; trial < 100; trial++) {
      const sentence = () =>
        `${Array.from({ length: 1 + next() * 20 }, () => `w${Math.floor(next() * 1000)}`).join(' ')}.`;
      const text = Array.from({ length: 1 + next() * 40 }, sentence).join(next() < 0.5 ? ' ' : '\n\n');
      const found = await chunks(readText(text));
      expect(found.flatMap((chunk) => chunk.text.split(/\s+/))).toEqual(text.split(/\s+/));
      for (const chunk of found) expect(chunk.text.length).toBeLessThanOrEqual(330);
      const anchors = found.map(({ anchor }) => anchor);
      expect(new Set(anchors).size).toBe(anchors.length);
    }
  });

  test('repeats the fence of split code and the head of a split table', async () => {
    const code = Array.from({ length: 40 }, (_, n) => `line ${n} of the code`).join('\n');
    const split = await chunks(readMarkdown(`\`\`\`js\n${code}\n\`\`\``));
    expect(split.length).toBeGreaterThan(2);
    for (const { text } of split) expect(text).toMatch(/^```js\nline [^`]*\n```$/);
    expect(split.flatMap(({ text }) => text.split('\n').slice(1, -1)).join('\n')).toBe(code);
    const rows = Array.from({ length: 30 }, (_, n) => `| ${n} | value of ${n} |`).join('\n');
    const tables = await chunks(readMarkdown(`| n | value |\n|---|---|\n${rows}\n`));
    expect(tables.length).toBeGreaterThan(1);
    for (const { text } of tables) expect(text).toMatch(/^n \| value\n\d+ \| value of/);
  });

  test('puts code that holds fences into a longer one', async () => {
    const code = 'Write:\n```js\nlet x = 1;\n```\nand then\n~~~\ny\n~~~';
    const [chunk] = await chunks(readMarkdown(`\`\`\`\`md\n${code}\n\`\`\`\`\n\nText.`));
    expect(chunk?.text).toBe(`\`\`\`\`md\n${code}\n\`\`\`\`\n\nText.`);
  });

  test('halves what does not fit the model until it does', async () => {
    const fits: Fits = async (text) => (text.length <= 40 ? 'fits' : 'too long');
    const found = await chunks(readText('word '.repeat(50)), { fits });
    for (const { text } of found) expect(text.length).toBeLessThanOrEqual(40);
    expect(found.map(({ text }) => text).join(' ')).toBe('word '.repeat(50).trim());
  });

  test('leaves out what has no token for the model', async () => {
    const fits: Fits = async (text) => (/[a-z]/.test(text) ? 'fits' : 'no tokens');
    expect(await chunks(readText('\ufffd\n\n7'), { fits })).toEqual([]);
    expect(await chunks(readText('7 bees'), { fits })).toHaveLength(1);
  });

  test('cuts a word without end between characters', async () => {
    const found = await chunks(readText('𝒳'.repeat(5000)));
    expect(found.map(({ text }) => text).join('')).toBe('𝒳'.repeat(5000));
    for (const { text } of found) expect(text).toBe(toUSVString(text));
  });

  test('drops what shows nothing, and half surrogate pairs', async () => {
    expect(await chunks(readText(' \u200b\n\n...\n\n---'))).toEqual([]);
    expect((await chunks(readText('a\ud800b')))[0]?.text).toBe('a\ufffdb');
  });

  test('repeats the last sentences in the next chunk of a section as told', async () => {
    const text = Array.from({ length: 12 }, (_, n) => `Sentence number ${n} is about this long.`).join(' ');
    const found = await chunks(readText(text), { size: 150, overlap: 60 });
    const last = found[0]?.text.match(/Sentence number \d+ is about this long\.$/)?.[0] as string;
    expect(found[1]?.text.startsWith(last)).toBe(true);
  });
});
