import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Document, Section } from '../../src/documents/document.js';
import { PdfReader, pdfLimits } from '../../src/documents/formats/pdf.js';
import { pdfOf } from './pdf-file.js';
import { read, texts } from './read-file.js';

interface Read {
  title: string | undefined;
  sections: Section[];
  problems: readonly string[];
}

async function collected(document: Document): Promise<Read> {
  const sections: Section[] = [];
  for await (const section of document.sections) sections.push(section);
  return { title: document.title, sections, problems: document.problems ?? [] };
}

describe('HTML', () => {
  test('with frames has no text of its own, and what frames show instead is dropped', async () => {
    const page = await read(
      'frames.html',
      '<title>Docs</title><frameset><frame src="a.html"><noframes><p>Get a browser</p></noframes></frameset>',
    );
    expect(page.title).toBe('Docs');
    expect(texts(page)).toEqual([]);
  });

  test('may be a form as a whole; only its fields are dropped', async () => {
    const page = await read(
      'form.html',
      `<body><form><h1>Fish</h1><p>Halibut is flat.</p><label>Name <input></label><textarea>draft</textarea>
      <select><option>one</option></select><button>Send</button></form></body>`,
    );
    expect(page.title).toBe('Fish');
    expect(texts(page)).toEqual(['Halibut is flat.']);
  });

  test.each([
    ['<meta charset="windows-1252">', 'Für 5 \x80'],
    ["<META http-equiv='Content-Type' content='text/html; charset=ISO-8859-1'>", 'Für 5 \x80'],
    ['<?xml version="1.0" encoding="iso-8859-15"?>', 'Für 5 \xa4'],
  ])('is decoded as %s declares', async (declaration, latin) => {
    const page = await read('old.html', Buffer.from(`${declaration}<p>${latin}</p>`, 'latin1'));
    expect(texts(page)).toEqual(['Für 5 €']);
  });

  test('of an undeclared or unknown encoding is decoded by its letters; UTF-8 is read whatever it declares', async () => {
    for (const declaration of ['', '<meta charset="klingon">', '<meta charset="utf-8">'])
      expect(texts(await read('bad.html', Buffer.from(`${declaration}<p>Für</p>`, 'latin1')))).toEqual([
        'Für',
      ]);
    expect(texts(await read('utf8.html', '<meta charset="windows-1252"><p>Für 5 €</p>'))).toEqual([
      'Für 5 €',
    ]);
  });

  test('has headings, paragraphs, items, rows and code; scripts, styles and navigation are dropped', async () => {
    const page = await read(
      'page.html',
      `<!doctype html><html><head><title>Bees &amp; more</title><style>p{}</style><script>var x = "<p>no</p>"</script></head>
      <body><nav><a href="/">Home</a></nav><h1>Bees</h1><p>Bees see<br>ultra<b>violet</b> light.
      <h2>Honey</h2><ul><li>one</li><li>two</ul><pre><code>let x = 1;\n  y();</code></pre>
      <table><tr><th>kind<th>colour</tr><tr><td>acacia<td>pale</tr></table><footer>imprint</footer></body></html>`,
    );
    expect(page.title).toBe('Bees');
    expect(page.sections.filter(({ blocks }) => blocks.length > 0)).toEqual([
      { headings: [], anchor: 'bees', blocks: [{ kind: 'prose', text: 'Bees see ultraviolet light.' }] },
      {
        headings: ['Honey'],
        anchor: 'honey',
        blocks: [
          { kind: 'item', text: '- one' },
          { kind: 'item', text: '- two' },
          { kind: 'code', text: 'let x = 1;\n  y();', head: '' },
          { kind: 'row', text: 'acacia | pale', head: 'kind | colour' },
        ],
      },
    ]);
  });

  test('shows what a browser shows: no hidden elements, templates, scripts, dialogs or titles of pictures', async () => {
    const page = await read(
      'hidden.html',
      `<title>Berths</title><body><div hidden>a</div><template><p>b</p></template><p style="color: red; display:none">c</p>
      <dialog>d</dialog><div role="navigation">e</div><svg><title>f</title><defs><text>g</text></defs></svg>
      <h2>Fees<svg><title>h</title></svg></h2><p>Shown&shy;here.</p><p hidden="until-found">And this.</p></body>`,
    );
    expect(page.title).toBe('Berths');
    expect(page.sections.map(({ headings }) => headings)).toEqual([['Fees']]);
    expect(texts(page)).toEqual(['Shownhere.', 'And this.']);
  });

  test('has the texts of drawings, and a cell over all columns ends its row', async () => {
    const drawing =
      '<p>Tide</p><svg><title>no</title><g><text>High <tspan>water</tspan></text><path d="M0"/>stray</g><foreignObject><p>Low</p></foreignObject></svg><p>End</p>';
    expect(texts(await read('drawing.html', drawing))).toEqual(['Tide', 'High water', 'Low', 'End']);
    expect(texts(await read('drawing.xhtml', `<html>${drawing}</html>`))).toEqual([
      'Tide',
      'High water',
      'Low',
      'End',
    ]);
    const table = '<table><tr><td>Ann<td>4<tr><td colspan=100>All paid.</table>';
    expect(texts(await read('all.html', table))).toEqual(['Ann | 4', 'All paid.']);
  });

  test('has the text of formulas, once', async () => {
    const math =
      '<p>Let <math><semantics><mrow><mi>x</mi><mo>=</mo><mn>2</mn></mrow><annotation encoding="application/x-tex">x = 2</annotation></semantics></math> be.</p>';
    expect(texts(await read('math.html', math))).toEqual(['Let x=2 be.']);
    const icon =
      '<p>Press <svg><path/></svg>or<script>x()</script>der <span hidden>y</span>now.<nav>z</nav>End</p>';
    expect(texts(await read('icon.html', icon))).toEqual(['Press order now.', 'End']);
  });

  test('counts buttons and labels within headings and summaries', async () => {
    const page = await read(
      'faq.html',
      '<h3><button aria-expanded="false">May I fish?</button></h3><div>From the pier.</div><details><summary><label>When?</label></summary>At dawn.</details><button>Send</button>',
    );
    expect(
      page.sections.map(({ headings, blocks }) => [...headings, ...blocks.map(({ text }) => text)]),
    ).toEqual([['May I fish?', 'From the pier.', 'When?', 'At dawn.']]);
  });

  test('keeps the columns of tables: empty cells, cells that span, tables in cells', async () => {
    const page = await read(
      'tables.html',
      `<table><caption>Crew</caption><thead><tr><td>Name<td>Phone<td>Berth</thead>
      <tr><td rowspan=2>Ann<td><td>4</tr><tr><td>551<td>5</tr><tr><td colspan=2>Bo<td>6</tr></table>
      <table><tr><td>Dear member,<table><tr><th>Fee<th>Due</tr><tr><td>80<td>May</tr></table>Yours<td>Side</tr></table>
      <table><tr><td><h4>In a cell</h4><p>Text</p></td></tr></table>`,
    );
    const rows = page.sections.flatMap(({ blocks }) => blocks.map(({ head, text }) => [head, text]));
    const crew = 'Name | Phone | Berth';
    expect(rows).toEqual([
      [undefined, 'Crew'],
      [crew, 'Ann |  | 4'],
      [crew, 'Ann | 551 | 5'],
      [crew, 'Bo |  | 6'],
      [undefined, 'Dear member,'],
      ['Fee | Due', '80 | May'],
      [undefined, 'Yours | Side'],
      [undefined, 'Text'],
    ]);
    expect(page.sections.at(-1)?.headings).toEqual(['In a cell']);
    const toEnd = '<table><tr><td>a<td rowspan=0>b<td>c<tr><td>d<td>e<tr><td>f<td>g</table>';
    expect(texts(await read('end.html', toEnd))).toEqual(['a | b | c', 'd | b | e', 'f | b | g']);
  });

  test('has the readings of ruby behind the whole word, without the brackets for old browsers', async () => {
    const page =
      '<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を<ruby>東京<rt>とうきょう</rt></ruby>で';
    expect(texts(await read('ruby.html', page))).toEqual(['漢字(かんじ)を東京(とうきょう)で']);
  });

  test('may be XHTML, whose elements close themselves', async () => {
    const xhtml =
      '<?xml version="1.0"?><html><head><title/><script src="a.js"/></head><body><p>Chapter&#160;one.</p><a id="x"/><p><![CDATA[a < b]]></p></body></html>';
    expect(texts(await read('c.xhtml', xhtml))).toEqual(['Chapter one.', 'a < b']);
    expect(texts(await read('c.html', xhtml))).toEqual(['Chapter one.', 'a < b']);
  });

  test('numbers the items of lists', async () => {
    const page = await read(
      'l.html',
      '<ol start=3><li>c<ul><li>x</ul><li>d</ol><ul><li><p>y</p><p>z</p></ul>',
    );
    expect(texts(page)).toEqual(['3. c', '- x', '4. d', '- y', 'z']);
  });

  test('nested without end is refused; elements that are never closed end with the page', async () => {
    await expect(read('deep.html', '<div><b>'.repeat(1_000_000))).rejects.toThrow(/nested too deeply/);
    const open = await read('open.html', `${'<p>text <i>more</i>'.repeat(100_000)}<td><tr><h2>end`);
    expect(texts(open)).toHaveLength(100_001);
  });
});

describe('plain text', () => {
  test('is cut at blank lines, and may be UTF-16 with a byte order mark', async () => {
    expect(texts(await read('a.txt', 'one\ntwo\r\n\r\nthree'))).toEqual(['one\ntwo', 'three']);
    expect(texts(await read('b.txt', Buffer.from('\ufeffGrüße', 'utf16le')))).toEqual(['Grüße']);
    expect(texts(await read('c.txt', '\ufeffGrüße'))).toEqual(['Grüße']);
  });

  test.each([
    ['binary.md', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), /binary/],
    ['empty.md', '', /is empty/],
    ['binary.csv', Buffer.from('a,b\n\0,1\n'), /binary/],
  ])('%s is refused with its reason', async (name, content, reason) => {
    await expect(read(name, content)).rejects.toThrow(reason);
  });
});

describe('PDF', () => {
  test('has a section per page; words divided at the end of a line are joined', async () => {
    const pdf = await read(
      'two.pdf',
      pdfOf([['Bees see ultra-', 'violet light.'], ['Ice flows.']], 'On bees'),
    );
    expect(pdf.title).toBe('On bees');
    expect(
      pdf.sections.map(({ page, anchor, blocks }) => [page, anchor, blocks.map(({ text }) => text)]),
    ).toEqual([
      [1, 'page=1', ['Bees see ultraviolet light.']],
      [2, 'page=2', ['Ice flows.']],
    ]);
  });

  test('keeps the hyphens of compounds that the document writes with them, or of words that it has', async () => {
    const pdf = await read(
      'hyphens.pdf',
      pdfOf([
        [
          'A well-known lamp is well-',
          'known. Foghorn and fog-',
          'horn. It is a salt-',
          'water lamp;',
          'salt and water. An electri-',
          'cal one.',
        ],
      ]),
    );
    expect(texts(pdf).join(' ').replace(/\s+/g, ' ')).toBe(
      'A well-known lamp is well-known. Foghorn and foghorn. It is a salt-water lamp; salt and water. An electrical one.',
    );
  });

  test('that is none is refused with its reason, and the next one is read', async () => {
    await using reader = new PdfReader();
    await expect(reader.read(Buffer.from('no PDF at all'))).rejects.toThrow(/not a readable PDF/);
    const { sections } = await collected(await reader.read(pdfOf([['Fine.']])));
    expect(sections[0]?.blocks[0]?.text).toBe('Fine.');
  });

  test('that unpacks to more memory than is allowed is stopped; the pages before are kept', async () => {
    // A stream of text operators that is 1,000 times as long unpacked.
    const bomb = deflateSync(Buffer.alloc(400 * 2 ** 20, '(a) Tj '));
    await using reader = new PdfReader({ ...pdfLimits, bytes: 200 * 2 ** 20 });
    const { sections, problems } = await collected(await reader.read(pdfOf([['First.'], bomb])));
    expect(sections).toHaveLength(1);
    expect(problems).toEqual([expect.stringMatching(/only the first 1 of 2 pages.*(memory|page 2)/)]);
    expect((await collected(await reader.read(pdfOf([['Next.']])))).sections).toHaveLength(1);
  });

  test('with more pages or text than allowed is cut there', async () => {
    await using pages = new PdfReader({ ...pdfLimits, pages: 2 });
    const many = pdfOf([['a'], ['b'], ['c'], ['d']]);
    expect((await collected(await pages.read(many))).problems).toEqual([
      expect.stringContaining('too many pages'),
    ]);
    await using text = new PdfReader({ ...pdfLimits, characters: 10 });
    const long = pdfOf([['twelve letters'], ['more']]);
    expect((await collected(await text.read(long))).problems).toEqual([
      expect.stringContaining('too much text'),
    ]);
  });

  test('that takes too long is stopped', async () => {
    await using reader = new PdfReader({ ...pdfLimits, pageMs: -1 });
    await expect(reader.read(pdfOf([['a']]))).rejects.toThrow(/takes more than/);
    await using whole = new PdfReader({ ...pdfLimits, documentMs: -1, msPerMebibyte: 0 });
    await expect(whole.read(pdfOf([['a']]))).rejects.toThrow(/its share of time/);
    await using small = new PdfReader({ ...pdfLimits, documentMs: 0, msPerMebibyte: 2 ** 40 });
    expect((await small.read(pdfOf([['a']]))).sections).toHaveLength(1);
  });
});
