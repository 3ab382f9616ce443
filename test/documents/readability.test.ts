import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { indexFolder, openKnowledgeBase } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';

const folder = temporaryFolder();

const paragraph =
  'The keeper of the lighthouse climbs ninety steps each evening, lights the lamp, and writes the hour into a book, which has been kept since the tower was built. ';
const page = `<!doctype html><html lang="en"><head><title>Harbour news: The keeper</title>
<meta name="description" content="A visit to the tower"></head><body>
<div class="menu"><a href="/">Home</a> <a href="/shop">Shop for postcards</a></div>
<div id="main"><h1>The keeper</h1><p>${paragraph.repeat(3)}</p><h2 id="oil">Oil</h2><p>${paragraph.repeat(3)}</p></div>
<div class="sidebar"><p><a href="/a">Ten boats that you will love</a></p></div>
<div class="comments"><p>First!</p></div></body></html>`;

async function read(text: string, readability: boolean) {
  const path = folder('page.html');
  writeFileSync(path, text);
  await using reader = new DocumentReader({}, undefined, readability);
  return await reader.read(path, async ({ sections, ...facts }) => {
    const found = [];
    for await (const section of sections) found.push(section);
    return { ...facts, sections: found, text: JSON.stringify(found) };
  });
}

test('of a web page the main text alone is read if that is asked for', async () => {
  const whole = await read(page, false);
  for (const words of ['Shop for postcards', 'Ten boats', 'First!', 'ninety steps'])
    expect(whole.text).toContain(words);
  const main = await read(page, true);
  expect(main.text).toContain('ninety steps');
  for (const words of ['Shop for postcards', 'Ten boats', 'First!']) expect(main.text).not.toContain(words);
  expect(main).toMatchObject({ title: whole.title });
  expect(main.sections.at(-1)).toMatchObject({ anchor: 'oil' });
});

test.each(['<p>Open daily.', '<ul><li>one<li>two</ul>', 'no element at all'])(
  'a page without a main text is read whole: %s',
  async (text) => {
    expect((await read(text, true)).text).toBe((await read(text, false)).text);
  },
);

test('an index is made of main texts, and again when that is asked for later', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  mkdirSync(folder('site'));
  writeFileSync(join(folder('site'), 'keeper.html'), page);
  const output = folder('index');
  const texts = async (readability?: boolean) => {
    const { config } = await indexFolder({ folder: folder('site'), output, models, readability });
    await using kb = await openKnowledgeBase(config, { models });
    const { hits } = await kb.search({ text: 'postcards', topK: 50, minBest: 0 });
    return hits.map(({ text }) => text).join('\n');
  };
  expect(await texts()).toContain('postcards');
  expect(await texts(true)).not.toContain('postcards');
  expect(await texts(false)).toContain('postcards');
});
