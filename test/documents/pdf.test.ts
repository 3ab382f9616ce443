/** What PDF files hold beside plain lines. */
import { expect, test } from 'vitest';
import type { Document, Section } from '../../src/documents/document.js';
import { PdfReader } from '../../src/documents/formats/pdf.js';
import { pageLines } from '../../src/documents/formats/pdf-lines.js';
import { pageText } from '../../src/documents/formats/pdf-text.js';
import { textOfScan } from '../../src/documents/ocr/scan-text.js';
import { extraObject, linesAt, pdfOf, streamOf, type TestPage } from './pdf-file.js';

async function read(pages: readonly TestPage[], extra: readonly string[] = []): Promise<Document> {
  await using reader = new PdfReader();
  return await reader.read(pdfOf(pages, undefined, extra));
}

const textsOf = ({ sections }: Document) =>
  [...(sections as Iterable<Section>)].map(({ blocks }) => blocks.map(({ text }) => text).join('\n\n'));

/** A font that is not in the file, whose characters a predefined map names. */
const mappedFont = (map: string, ordering: string) =>
  `<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/${map}/DescendantFonts[<</Type/Font/Subtype/CIDFontType0` +
  `/BaseFont/Song/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>` +
  '/FontDescriptor<</Type/FontDescriptor/FontName/Song/Flags 4/ItalicAngle 0/Ascent 880/Descent -120' +
  '/CapHeight 880/StemV 80/FontBBox[0 -120 1000 880]>>>>]>>';

/** A page with a Latin line above one of UTF-16. */
const mixedPage = (text: string): TestPage => ({
  operators:
    `${linesAt(72, 700, ['Latin above.'])} BT /F2 12 Tf 72 600 Td ` +
    `<${Buffer.from(text, 'utf16le').swap16().toString('hex')}> Tj ET`,
  fonts: `/F2 ${extraObject(1, 0)} 0 R`,
});

test('pictures of TeX characters that nothing names are read by their codes', async () => {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const font =
    '<</Type/Font/Subtype/Type3/FontBBox[0 0 10 10]/FontMatrix[.1 0 0 .1 0 0]/FirstChar 0/LastChar 255' +
    `/Widths[${codes.map(() => 5).join(' ')}]/CharProcs<<>>/Resources<<>>` +
    `/Encoding<</Type/Encoding/Differences[0 ${codes.map((code) => `/a${code}`).join(' ')}]>>>>`;
  const text = String.raw`The o\036ce of \222koda \020\034nds\021 da\033odils, 5\02510 \(Gro\377\)`;
  const page = {
    operators: `${linesAt(72, 700, ['Plain \\222 text.'])} BT /F2 12 Tf 72 600 Td (${text}) Tj ET`,
    fonts: `/F2 ${extraObject(1, 0)} 0 R`,
  };
  expect(textsOf(await read([page], [font]))).toEqual([
    'Plain ’ text.\n\nThe office of Škoda “finds” daffodils, 5–10 (Groß)',
  ]);
});

test('accents that are drawn before their letters are of them', () => {
  const shown = (text: string) => pageText([{ text, isApart: false }]);
  expect(shown('Fj¨ord, na¨ıve ˇSkoda, Erd˝os, S˜ao, Ren´e, voil`a, ˚Angstr¨om')).toBe(
    'Fjörd, naïve Škoda, Erdős, São, René, voilà, Ångström',
  );
  expect(shown('\x88 First\x01 mast')).toBe('• First mast');
  for (const text of ['25 ˚C', 'it´s', 'run `ls` or `a`', 'x ˜ y', '5´ 3´´', 'geht´s', 'ˆx'])
    expect(shown(text)).toBe(text);
});

test('words from right to left within a line from left to right are read from the right', () => {
  let x = 72;
  const item = (str: string, width: number, dir = 'ltr') => {
    x += width;
    return { str, dir, width, height: 12, transform: [12, 0, 0, 12, x - width, 700] };
  };
  const space = () => item(' ', 9);
  const items = [item('See', 20), space(), item('العربية', 40, 'rtl'), space(), item('.', 3)];
  items.push(item('עולם', 26, 'rtl'), space(), item('שלום', 27, 'rtl'), space(), item('on page 3', 50));
  expect(pageLines(items).map(({ text }) => text)).toEqual(['See שלום עולם. العربية on page 3']);
});

test('headers with the number of a chapter are left out, also where their parts are one line', async () => {
  const page = (number: number, header: string): TestPage => ({
    operators: `BT /F1 9 Tf 72 770 Td ${header} ET ${linesAt(72, 600, [`Text ${number * 7} of the page.`])}`,
  });
  const parts = (chapter: number) => `(Harbour) Tj 300 0 Td (Chapter ${chapter}) Tj`;
  const pages = [1, 1, 2, 2, 3].map((chapter, at) =>
    page(at, at === 4 ? `(Harbour Chapter ${chapter}) Tj` : parts(chapter)),
  );
  expect(textsOf(await read(pages))).toEqual([0, 1, 2, 3, 4].map((at) => `Text ${at * 7} of the page.`));
});

test('the letters of letterspaced words are together, those of lists are not', async () => {
  const spaced = (text: string, y: number) => `BT /F1 12 Tf 6 Tc 72 ${y} Td (${text}) Tj ET`;
  const lines = ['INTRODUCTION', 'OUR METHODS', 'Related work', 'ABCDEF'].map((text, at) =>
    spaced(text, 700 - 30 * at),
  );
  const written = linesAt(72, 500, ['C O N C L U S I O N', 'choose A E I O U as it is']);
  const [page] = textsOf(
    await read([{ operators: `${lines.join(' ')} ${written.replace('Tf', 'Tf 0 Tc')}` }]),
  );
  expect(page?.split(/\n+/)).toEqual([
    'INTRODUCTION',
    'OUR METHODS',
    'Related work',
    'A B C D E F',
    'CONCLUSION',
    'choose A E I O U as it is',
  ]);
});

test.each([
  ['UniGB-UCS2-H', 'GB1', '蜜蜂在春天采集花蜜。'],
  ['UniCNS-UTF16-H', 'CNS1', '蜜蜂在春天採集花蜜。'],
  ['UniJIS-UCS2-H', 'Japan1', '春になるとミツバチは花の蜜を集める。'],
  ['UniKS-UCS2-H', 'Korea1', '꿀벌은 봄에 꿀을 모은다.'],
])('characters of the predefined map %s are read beside Latin ones', async (map, ordering, text) => {
  const [page] = textsOf(await read([mixedPage(text)], [mappedFont(map, ordering)]));
  expect(page).toBe(`Latin above.\n\n${text}`);
});

test.each([
  ['a long-|term plan and an e-|mail', 'a long-term plan and an e-mail'],
  ['the state-of-the-|art pump', 'the state-of-the-art pump'],
  ['her mother-|in-law came', 'her mother-in-law came'],
  ['written by Jean-|Paul about Covid-|19', 'written by Jean-Paul about Covid-19'],
  ['ON INFOR-|MATION THEORY', 'ON INFORMATION THEORY'],
  ['a high-|way of an electri-|cal self-|ish kind', 'a highway of an electrical selfish kind'],
])('the hyphens of %s', async (broken, text) => {
  const [page] = textsOf(await read([broken.split('|')]));
  expect(page).toBe(text);
});

/** Operators that write each text at its place. */
const placed = (texts: readonly (readonly [number, number, string])[]) => ({
  operators: texts.map(([x, y, text]) => linesAt(x, y, [text])).join(' '),
});

test('two columns under a title that are drawn line by line are read one after the other', async () => {
  const left = [
    'The first column tells of',
    'bees and of their honey,',
    'which they gather',
    'in spring and summer.',
  ];
  const right = [
    'The second one tells of',
    'ice that flows down to',
    'the valleys and melts',
    'where it is warm.',
  ];
  const rows = left.flatMap((text, at) => [
    [72, 600 - 14 * at, text] as const,
    [320, 600 - 14 * at, right[at] as string] as const,
  ]);
  const title = 'A title that lies over both of the columns of this page';
  const [page] = textsOf(await read([placed([[150, 660, title], ...rows])]));
  expect(page?.replaceAll('\n', ' ').replace(/ +/g, ' ')).toBe([title, ...left, ...right].join(' '));
});

test('a table keeps its rows', async () => {
  const rows = [
    ['Town', 'People'],
    ['Wick', '7155'],
    ['Thurso', '7390'],
    ['Kirkwall', '9293'],
  ];
  const cells = rows.flatMap(([town = '', people = ''], at) => [
    [72, 600 - 14 * at, town] as const,
    [320, 600 - 14 * at, people] as const,
  ]);
  expect(textsOf(await read([placed(cells)]))).toEqual([
    'Town People\nWick 7155\nThurso 7390\nKirkwall 9293',
  ]);
});

test('a table of long cells keeps its rows', async () => {
  const rows = ['One', 'Two', 'Three', 'Four'].map((name) => [
    `${name} is the name`,
    `The lamp ${name} is lit`,
  ]);
  const cells = rows.flatMap(([left = '', right = ''], at) => [
    [72, 600 - 14 * at, left] as const,
    [320, 600 - 14 * at, right] as const,
  ]);
  expect(textsOf(await read([placed(cells)]))).toEqual([rows.map((row) => row.join(' ')).join('\n')]);
});

test('three columns are read one after the other', async () => {
  const columns = ['bees', 'ice', 'fog'].map((subject) =>
    [1, 2, 3, 4, 5].map((line) => `and line ${line} of it on ${subject}`),
  );
  const rows = [0, 1, 2, 3, 4].flatMap((line) =>
    columns.map((column, at) => [50 + 180 * at, 600 - 14 * line, column[line] as string] as const),
  );
  const [page] = textsOf(await read([placed(rows)]));
  expect(page?.split(/\n+/)).toEqual(columns.flat());
});

test('headers and footers that repeat are dropped, page numbers too; headings in the text stay', async () => {
  const pages = ['Bees', 'Ice', 'Honey', 'Fog'].map((text, at) =>
    placed([
      [72, 760, 'Yearly report of the harbour'],
      [72, 660, 'Summary'],
      [72, 640, `${text} in the year ${at + 1}.`],
      [280, 40, `Page ${at + 1} of 4`],
    ]),
  );
  expect(textsOf(await read(pages)).map((page) => page.replace(/\s+/g, ' '))).toEqual([
    'Summary Bees in the year 1.',
    'Summary Ice in the year 2.',
    'Summary Honey in the year 3.',
    'Summary Fog in the year 4.',
  ]);
});

test('headers of the first pages are dropped although their page numbers are Roman', async () => {
  const numbers = ['ii', 'iii', '1', '2', '3', '4'];
  const pages = numbers.map((number) =>
    placed([
      [72, 760, `Harbour guide ${number}`],
      [72, 600, 'It rained.'],
    ]),
  );
  expect(textsOf(await read(pages))).toEqual(numbers.map(() => 'It rained.'));
});

test('lines with the number of their page are dropped although they name the chapter', async () => {
  const heads = ['Chapter 1: Bees 3', 'Chapter 1: Bees 4', 'Chapter 2: Ice 5', '6 | Ice', '7'];
  const pages = heads.map((text) =>
    placed([
      [72, 760, text],
      [72, 600, 'It rained.'],
    ]),
  );
  expect(textsOf(await read(pages))).toEqual(heads.map(() => 'It rained.'));
});

test('lines at the top that differ in more than a page number stay', async () => {
  const pages = ['1903', '1950', '1912'].map((year) =>
    placed([
      [72, 760, `In ${year}`],
      [72, 600, 'It rained.'],
    ]),
  );
  expect(textsOf(await read(pages)).map((page) => page.slice(0, 7))).toEqual([
    'In 1903',
    'In 1950',
    'In 1912',
  ]);
});

test('ligatures are letters', async () => {
  const font =
    '<</Type/Font/Subtype/Type1/BaseFont/Times/Encoding<</Type/Encoding/Differences[1/fi/fl/ffi/f_f/uniFB00]>>>>';
  const page = {
    operators: 'BT /F2 12 Tf 72 600 Td (\\001ne \\002ow o\\003ce o\\004er o\\005set) Tj ET',
    fonts: `/F2 ${extraObject(1, 0)} 0 R`,
  };
  expect(textsOf(await read([page], [font]))).toEqual(['fine flow office offer offset']);
});

test('the values of a form are read with the names of its fields', async () => {
  const field = (facts: string) => `<</Type/Annot/Subtype/Widget/Rect[72 500 200 520]${facts}>>`;
  const numbers = [0, 1, 2, 3].map((at) => `${extraObject(1, at)} 0 R`).join(' ');
  const page = { operators: linesAt(72, 700, ['An application.']), annotations: `/Annots[${numbers}]` };
  const [text] = textsOf(
    await read(
      [page],
      [
        field('/FT/Tx/T(surname)/TU(Family name)/V(Okonkwo)'),
        field('/FT/Ch/T(town)/Opt[(Wick)(Thurso)]/V(Thurso)'),
        field('/FT/Tx/T(empty)'),
        field('/FT/Tx/Ff 8192/T(pin)/V(12345)'),
      ],
    ),
  );
  expect(text).toBe('An application.\n\nFamily name: Okonkwo\ntown: Thurso');
});

test('pages without text are named', async () => {
  const { problems } = await read([['One.'], [], ['Three.'], [], []]);
  expect(problems).toEqual(['pages 2, 4-5 have no text; if they are scanned, --ocr reads them']);
});

test.each([
  ['from left to right', [72, 120]],
  ['from right to left', [120, 72]],
])('Hebrew words drawn %s are read from the right', async (_, [first = 0, second = 0]) => {
  const map = [
    '/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange',
    '1 beginbfrange <41> <5a> <05D0> endbfrange endcmap end',
  ].join(' ');
  const font = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode ${extraObject(1, 1)} 0 R>>`;
  const words = new Map([
    [120, 'ABC'], // the glyphs of a word, from left to right
    [72, 'DEFG'],
  ]);
  const shown = [first, second].map((x) => `BT /F2 12 Tf ${x} 600 Td (${words.get(x)}) Tj ET`).join(' ');
  const page = { operators: shown, fonts: `/F2 ${extraObject(1, 0)} 0 R` };
  const [text] = textsOf(await read([page], [font, streamOf(map)]));
  expect(text).toBe('\u05D2\u05D1\u05D0 \u05D6\u05D5\u05D4\u05D3'.replace(/\s/, ' '));
});

test('a scan of very many lines and a line of very many words are read in time that grows with their length', () => {
  const count = 60_000;
  expect(textOfScan('word\n'.repeat(count))).toHaveLength(5 * count - 1);
  const items = Array.from({ length: count }, (_, at) => ({
    ...{ str: 'word', width: 20, height: 10 },
    transform: [1, 0, 0, 1, 60 * at, 700],
  }));
  expect(pageLines(items).map(({ text }) => text.length)).toEqual([5 * count - 1]);
});

test('lines that end within a text without spaces are one, and letters of Arabic have no forms', () => {
  const line = (text: string, isApart = false) => ({ text, isApart });
  const full = ['港の灯台は夜になると光り、船が', '安全に入れるように道を照らしま', 'す。'];
  expect(pageText(full.map((text) => line(text)))).toBe(full.join(''));
  expect(pageText([line('住所'), line('電話')])).toBe('住所\n電話');
  expect(pageText([line('港の灯台は夜になると光ります。'), line('船が入ります。')])).toBe(
    '港の灯台は夜になると光ります。\n船が入ります。',
  );
  expect(pageText([line('ﺍﻟﻤﻨﺎﺭﺓ')])).toBe('المنارة');
});

test('a title that a program wrote for none is no title', async () => {
  const titleOf = async (title: string) => {
    await using reader = new PdfReader();
    return (await reader.read(pdfOf([['The lamp.']], title))).title;
  };
  expect(await titleOf('untitled')).toBeUndefined();
  expect(await titleOf('\\(anonymous\\)')).toBeUndefined();
  expect(await titleOf('Microsoft Word - Lamps.docx')).toBe('Lamps.docx');
  expect(await titleOf('Untitled lamps')).toBe('Untitled lamps');
});
