import { expect, test } from 'vitest';
import { parts, zipOf } from './archives.js';
import { read } from './read-file.js';

test('books have their chapters in reading order', async () => {
  const { title, sections } = await read(
    'a.epub',
    zipOf({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<c><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></c>',
      'OPS/book.opf':
        '<package><dc:title>Storms</dc:title><manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="2" href="two%20.xhtml"/><item id="1" href="one.xhtml"/></manifest><spine><itemref idref="n"/><itemref idref="1"/><itemref idref="2"/></spine></package>',
      'OPS/nav.xhtml': '<html><body>Contents</body></html>',
      'OPS/one.xhtml': '<html><head><script src="a"/></head><body><h1>One</h1><p>Wind.</p></body></html>',
      'OPS/two .xhtml': '<html><body><h1>Two</h1><p>Rain.</p></body></html>',
    }),
  );
  expect(title).toBe('Storms');
  expect(parts(sections)).toEqual([
    ['One', 'Wind.'],
    ['Two', 'Rain.'],
  ]);
});

test('a book that names one chapter many times has it once', async () => {
  const chapter = '<html><body><h1>One</h1><p>A chapter.</p></body></html>';
  const spine = '<itemref idref="a"/>'.repeat(100_000);
  const { sections } = await read(
    'often.epub',
    zipOf({
      'META-INF/container.xml': '<container><rootfile full-path="a.opf"/></container>',
      'a.opf': `<package><item id="a" href="a.xhtml"/>${spine}</package>`,
      'a.xhtml': chapter,
    }),
  );
  expect(parts(sections)).toEqual([['', 'A chapter.']]);
});
