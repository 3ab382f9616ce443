/** Documents of office programs and books. */
import { writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

/** Makes a ZIP archive. */
function zipOf(parts: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const data = deflateRawSync(content);
    const title = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(data.length, 18);
    local.writeUInt16LE(title.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(title.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, title, data);
    entries.push(entry, title);
    offset += local.length + title.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

async function read(name: string, content: Buffer) {
  writeFileSync(file(name), content);
  await using reader = new DocumentReader();
  return reader.read(file(name), async ({ title, sections }) => {
    const found: Section[] = [];
    for await (const section of sections) found.push(section);
    return { title, sections: found };
  });
}

const parts = (sections: readonly Section[]) =>
  sections.map(({ headings, blocks }) => [
    headings.join(' > '),
    ...blocks.map(({ head, text }) => (head === undefined ? text : `${head} / ${text}`)),
  ]);

test('Word documents have headings, items, tables and notes; deleted text is left out', async () => {
  const paragraph = (text: string, style = '') =>
    `<w:p><w:pPr>${style}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const cell = (text: string, facts = '') => `<w:tc><w:tcPr>${facts}</w:tcPr>${paragraph(text)}</w:tc>`;
  const document = `<w:document><w:body>
    ${paragraph('Harbour', '<w:pStyle w:val="berschrift1"/>')}
    ${paragraph('Fuel &amp; water', '<w:numPr/>')}
    <w:p><w:r><w:t>One</w:t></w:r><w:r><w:tab/><w:t xml:space="preserve">line. </w:t><w:delText>gone</w:delText></w:r></w:p>
    <w:tbl><w:tr>${cell('Name')}${cell('Phone')}${cell('Berth')}</w:tr><w:tr>${cell('Ann')}${cell('')}${cell('4')}</w:tr>
    <w:tr>${cell('Bo', '<w:gridSpan w:val="2"/>')}${cell('5')}</w:tr></w:tbl></w:body></w:document>`;
  const { title, sections } = await read(
    'a.docx',
    zipOf({
      'word/document.xml': document,
      'word/styles.xml':
        '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>',
      'word/footnotes.xml': `<w:footnotes><w:footnote>${paragraph('A note.')}</w:footnote></w:footnotes>`,
    }),
  );
  expect(title).toBe('Harbour');
  const head = 'Name | Phone | Berth';
  expect(parts(sections)).toEqual([
    ['', '- Fuel & water', 'One line.', `${head} / Ann |  | 4`, `${head} / Bo |  | 5`, 'A note.'],
  ]);
});

test('workbooks have a section per sheet, with columns, dates and exact numbers', async () => {
  const { sections } = await read(
    'a.xlsx',
    zipOf({
      'xl/workbook.xml':
        '<workbook><sheets><sheet name="Crew" r:id="r1"/><sheet name="Empty" r:id="r2"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<R><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></R>',
      'xl/sharedStrings.xml':
        '<sst><si><t>Name</t></si><si><r><t>Joi</t></r><r><t>ned</t></r><rPh><t>x</t></rPh></si></sst>',
      'xl/styles.xml':
        '<s><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></s>',
      'xl/worksheets/sheet1.xml':
        '<w><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2"><f>1+1</f><v>9007199254740993</v></c><c r="C2" s="1"><v>45292</v></c></row></sheetData></w>',
      'xl/worksheets/sheet2.xml': '<w/>',
    }),
  );
  expect(parts(sections)).toEqual([
    ['Crew', 'Name |  | Joined / Ann | 9007199254740993 | 2024-01-01'],
    ['', 'Empty'],
  ]);
});

test('presentations have a section per slide in their order, with notes', async () => {
  const shape = (text: string, type: string) =>
    `<p:sp><p:nvPr><p:ph type="${type}"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const { sections } = await read(
    'a.pptx',
    zipOf({
      'ppt/presentation.xml': '<p><p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst></p>',
      'ppt/_rels/presentation.xml.rels':
        '<R><Relationship Id="a" Target="slides/slide1.xml"/><Relationship Id="b" Target="slides/slide2.xml"/></R>',
      'ppt/slides/slide1.xml': `<p>${shape('Last', 'title')}</p>`,
      'ppt/slides/slide2.xml': `<p>${shape('Tides', 'ctrTitle')}${shape('High water', 'body')}${shape('7', 'sldNum')}</p>`,
      'ppt/slides/_rels/slide2.xml.rels':
        '<R><Relationship Id="n" Target="../notesSlides/notesSlide1.xml"/></R>',
      'ppt/notesSlides/notesSlide1.xml': `<p>${shape('Speak slowly.', 'body')}</p>`,
    }),
  );
  expect(parts(sections)).toEqual([
    ['Tides', 'High water', 'Speak slowly.'],
    ['Last', 'Last'],
  ]);
  expect(sections.map(({ page }) => page)).toEqual([1, 2]);
});

test('OpenDocument texts have headings, items and tables', async () => {
  const { title, sections } = await read(
    'a.odt',
    zipOf({
      'meta.xml': '<m><dc:title>Log</dc:title></m>',
      'content.xml':
        '<d><office:text><text:h text:outline-level="2">Lamp</text:h><text:p>It<text:s/>burns.<office:annotation><text:p>no</text:p></office:annotation></text:p><text:list><text:list-item><text:p>oil</text:p></text:list-item></text:list><table:table table:name="T"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell/><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table></office:text></d>',
    }),
  );
  expect(title).toBe('Log');
  expect(parts(sections)).toEqual([['Lamp', 'It burns.', '- oil', 'a | b /  | 2']]);
});

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

describe('damaged and hostile archives', () => {
  test.each(['a.docx', 'a.xlsx', 'a.pptx', 'a.odt', 'a.epub'])(
    '%s of another kind is refused',
    async (name) => {
      await expect(read(name, Buffer.from('no archive, and long enough for its end'))).rejects.toThrow(
        'not a readable archive',
      );
      await expect(read(name, zipOf({ other: 'x' }))).rejects.toThrow(/^is not a/);
      const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
      await expect(read(name, old)).rejects.toThrow('protected by a password');
    },
  );

  test('an archive that unpacks without end is refused', async () => {
    const bomb = zipOf({ 'word/document.xml': Buffer.alloc(300 * 2 ** 20, ' ') });
    expect(bomb.length).toBeLessThan(2 ** 20);
    await expect(read('bomb.docx', bomb)).rejects.toThrow('unpacks to more than 256 MiB');
  });

  test('no damage crashes a reader', async () => {
    const whole = zipOf({ 'word/document.xml': '<w:p><w:t>Text</w:t></w:p>' });
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0xff;
      await read('damaged.docx', damaged).catch((error: Error) =>
        expect(error.name).toBe('UnreadableDocument'),
      );
    }
  });
});
