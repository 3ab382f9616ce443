/** Documents of office programs. */
import { describe, expect, test } from 'vitest';
import { parts, zipOf } from './archives.js';
import { read } from './read-file.js';

const point = (at: number, value: string) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`;

const catchChart = `<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Catch</a:t></a:r></a:p></c:rich></c:tx></c:title><c:ser>
  <c:tx>${point(0, 'Herring')}</c:tx><c:cat>${point(0, 'Oslo')}${point(1, 'Bergen')}</c:cat>
  <c:val>${point(1, '7')}${point(0, '12.5')}</c:val></c:ser></c:chart>`;

test('styles of a Word document have what their bases say, and symbols are characters', async () => {
  const paragraph = (text: string, style: string) =>
    `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const style = (id: string, name: string, facts = '') =>
    `<w:style w:styleId="${id}"><w:name w:val="${name}"/>${facts}</w:style>`;
  const symbol = (font: string, code: string) => `<w:sym w:font="${font}" w:char="${code}"/>`;
  const { sections } = await read(
    'styles.docx',
    zipOf({
      'word/document.xml': `<w:document><w:body>${paragraph('Rig', 'Rubrik')}${paragraph('mast', 'Punkt')}
        <w:p><w:r>${symbol('Symbol', 'F061')}${symbol('Symbol', 'F0A3')}${symbol('Wingdings', 'F0E0')}<w:t>x</w:t></w:r></w:p></w:body></w:document>`,
      'word/styles.xml': `<w:styles>${style('H2', 'heading 2')}${style('Rubrik', 'Rubrik', '<w:basedOn w:val="Mellan"/>')}
        ${style('Mellan', 'Mellan', '<w:basedOn w:val="H2"/>')}${style('Lista', 'List', '<w:pPr><w:numPr/></w:pPr>')}
        ${style('Punkt', 'Punkt', '<w:basedOn w:val="Lista"/>')}${style('A', 'A', '<w:basedOn w:val="A"/>')}</w:styles>`,
    }),
  );
  expect(parts(sections)).toEqual([['Rig', '- mast', 'α≤ x']]);
});

test('the title within a Word document is above its chapters, and several are chapters', async () => {
  const paragraph = (text: string, style: string, more = '') =>
    `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t>${more}</w:r></w:p>`;
  const box = `<w:txbxContent>${paragraph('beside', 'Body')}</w:txbxContent>`;
  const documentOf = async (...paragraphs: string[]) => {
    const { title, sections } = await read(
      'title.docx',
      zipOf({ 'word/document.xml': `<w:document><w:body>${paragraphs.join('')}</w:body></w:document>` }),
    );
    return [title, ...parts(sections)];
  };
  const chapter = [paragraph('Masts', 'Heading1', box), paragraph('pine', 'Body')];
  const contents = [paragraph('Contents', 'TOCHeading'), paragraph('Masts 1', 'TOC1')];
  expect(
    await documentOf(paragraph('Ships', 'Title'), paragraph('of wood', 'Subtitle'), ...contents, ...chapter),
  ).toEqual(['Ships', ['', 'of wood'], ['Masts', 'beside', 'pine']]);
  expect(
    await documentOf(
      paragraph('Ships', 'Title'),
      ...chapter,
      paragraph('Sails', 'Heading1'),
      paragraph('flax', 'Body'),
    ),
  ).toEqual(['Ships', ['Masts', 'beside', 'pine'], ['Sails', 'flax']]);
  expect(
    await documentOf(
      paragraph('Ships', 'Title'),
      ...chapter,
      paragraph('Boats', 'Title'),
      paragraph('oars', 'Body'),
    ),
  ).toEqual([undefined, ['Ships > Masts', 'beside', 'pine'], ['Boats', 'oars']]);
});

test('the title within an OpenDocument text is above its chapters, and a note in a heading leaves it one', async () => {
  const { title, sections } = await read(
    'title.odt',
    zipOf({
      'content.xml': `<office:document-content><office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles>
        <office:body><office:text><text:p text:style-name="P1">Ships</text:p><text:h text:outline-level="1">Masts<text:note><text:note-body><text:p>of pine</text:p></text:note-body></text:note></text:h>
        <text:p>tall</text:p><text:h text:outline-level="2">Yards</text:h><text:p>wide</text:p></office:text></office:body></office:document-content>`,
    }),
  );
  expect([title, ...parts(sections)]).toEqual([
    'Ships',
    ['Masts', 'of pine', 'tall'],
    ['Masts > Yards', 'wide'],
  ]);
});

test('cells beyond the last column that is read are named', async () => {
  const sheet = '<worksheet><row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row></worksheet>';
  const { sections, problems } = await read(
    'wide.xlsx',
    zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="r1" Target="s.xml"/></Relationships>',
      'xl/s.xml': sheet,
    }),
  );
  expect(parts(sections)).toEqual([['S', '1']]);
  expect(problems).toEqual(['sheet "S": cells beyond column 1000 are left out']);
});

test('a text that cells of a workbook share is read as far as a cell may have one', async () => {
  const cells = Array.from({ length: 20 }, () => '<c t="s"><v>0</v></c>').join('');
  const { sections } = await read(
    'shared.xlsx',
    zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="r1" Target="s.xml"/></Relationships>',
      'xl/sharedStrings.xml': `<sst><si><t>${'a'.repeat(100_000)}</t></si></sst>`,
      'xl/s.xml': `<worksheet><row>${cells}</row></worksheet>`,
    }),
  );
  const length = parts(sections).flat().join('').length;
  expect(length).toBeGreaterThan(20 * 32_767);
  expect(length).toBeLessThan(20 * 33_000);
});

test('the texts above and below the pages of Word and OpenDocument texts are read once', async () => {
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const relation = (id: number, kind: string) =>
    `<Relationship Id="${kind}${id}" Type="x/${kind}" Target="${kind}${id}.xml"/>`;
  const field =
    '<w:p><w:r><w:t>Page </w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>3 of 7</w:t></w:r></w:p>';
  const { sections } = await read(
    'margins.docx',
    zipOf({
      'word/document.xml': `<w:document><w:body>${paragraph('Text.')}</w:body></w:document>`,
      'word/_rels/document.xml.rels': `<Relationships>${[1, 2].map((id) => relation(id, 'header') + relation(id, 'footer')).join('')}</Relationships>`,
      'word/header1.xml': `<w:hdr>${paragraph('Harbour office')}</w:hdr>`,
      'word/header2.xml': `<w:hdr>${paragraph('Harbour office')}${paragraph('Draft')}</w:hdr>`,
      'word/footer1.xml': `<w:ftr>${paragraph('Do not copy')}${field}</w:ftr>`,
      'word/footer2.xml': `<w:ftr>${field}</w:ftr>`,
    }),
  );
  expect(parts(sections)).toEqual([['', 'Harbour office', 'Draft', 'Text.', 'Do not copy']]);
  const open = await read(
    'margins.odt',
    zipOf({
      'content.xml': '<office:text><text:p>Text.</text:p></office:text>',
      'styles.xml':
        '<style:master-page><style:header><text:p>Harbour <text:span>office</text:span></text:p></style:header><style:header-left><text:p>Harbour office</text:p></style:header-left><style:footer><text:p><text:page-number>3</text:page-number></text:p><text:p>Do not copy</text:p></style:footer></style:master-page>',
    }),
  );
  expect(parts(open.sections)).toEqual([['', 'Harbour office', 'Text.', 'Do not copy']]);
});

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

test('notes, comments and text boxes of Word follow the paragraph that they stand beside; hidden and moved text is left out', async () => {
  const text = (words: string) => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`;
  const note = (kind: string, id: number, words: string, facts = '') =>
    `<w:${kind}s><w:${kind} w:id="${id}"${facts}><w:p>${text(words)}</w:p></w:${kind}></w:${kind}s>`;
  const box = `<w:txbxContent><w:p>${text('In a box.')}</w:p></w:txbxContent>`;
  const cell = (words: string, facts = '') =>
    `<w:tc><w:tcPr>${facts}</w:tcPr><w:p>${text(words)}</w:p></w:tc>`;
  const document = `<w:document><w:body>
    <w:p><w:pPr><w:pStyle w:val="TOC1"/></w:pPr>${text('Tides 3')}</w:p>
    <w:p>${text('High')}<w:r><w:footnoteReference w:id="2"/></w:r>${text(' water')}<w:r><w:commentReference w:id="0"/></w:r></w:p>
    <w:p>${text('Box: ')}<mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent>${text('after.')}</w:p>
    <w:p><w:moveFrom>${text('Moved. ')}</w:moveFrom><w:ins>${text('New. ')}</w:ins><w:del><w:r><w:delText>Old. </w:delText></w:r></w:del>
      <w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden.</w:t></w:r><w:moveTo>${text('Here.')}</w:moveTo></w:p>
    <w:tbl><w:tr>${cell('Berth')}${cell('Boat')}</w:tr><w:tr>${cell('North', '<w:vMerge w:val="restart"/>')}${cell('Ida')}</w:tr>
    <w:tr>${cell('', '<w:vMerge/>')}${cell('Ran')}</w:tr></w:tbl></w:body></w:document>`;
  const { sections } = await read(
    'b.docx',
    zipOf({
      '_rels/.rels': '<R><Relationship Id="r" Type="x/officeDocument" Target="word/document2.xml"/></R>',
      'word/document2.xml': document,
      'word/footnotes.xml': note('footnote', 2, 'At noon.'),
      'word/comments.xml': note('comment', 0, 'Check this.', ' w:author="Ann"'),
    }),
  );
  expect(parts(sections)).toEqual([
    [
      '',
      'High water',
      'At noon.',
      'Comment by Ann: Check this.',
      'Box: after.',
      'In a box.',
      'New. Here.',
      'Berth | Boat / North | Ida',
      'Berth | Boat / North | Ran',
    ],
  ]);
});

test('Word documents have the texts of their charts, diagrams and formulas', async () => {
  const type = 'x/relationships';
  const { sections } = await read(
    'drawn.docx',
    zipOf({
      'word/document.xml': `<w:document><w:p><w:r><w:t>Energy: </w:t></w:r><m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath>
        <w:r><w:drawing><c:chart r:id="c"/></w:drawing><w:drawing><dgm:relIds r:dm="d"/></w:drawing></w:r></w:p></w:document>`,
      'word/_rels/document.xml.rels': `<R><Relationship Id="c" Type="${type}/chart" Target="charts/a.xml"/><Relationship Id="d" Type="${type}/diagramData" Target="diagrams/a.xml"/></R>`,
      'word/charts/a.xml': catchChart,
      'word/diagrams/a.xml': '<dgm:x><a:p><a:r><a:t>First step</a:t></a:r></a:p></dgm:x>',
    }),
  );
  expect(parts(sections)).toEqual([
    ['', 'Energy: E=mc', 'Catch', 'Herring: Oslo 12.5, Bergen 7', 'First step'],
  ]);
});

test('readings of Word follow the words that they are of', async () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const ruby = `<w:r><w:ruby><w:rt>${run('とうだい')}</w:rt><w:rubyBase>${run('灯台')}</w:rubyBase></w:ruby></w:r>`;
  const { sections } = await read(
    'ruby.docx',
    zipOf({ 'word/document.xml': `<w:document><w:p>${ruby}${run('が光る')}</w:p></w:document>` }),
  );
  expect(parts(sections)).toEqual([['', '灯台(とうだい)が光る']]);
});

test('workbooks show codes with their zeros, and have the texts of their drawings', async () => {
  const codes = ['00000', '000\\-00\\-0000', '0.00', '(000) 000-0000'];
  const cells = ['1234', '12345678', '3.5', '5551234567'];
  const { sections } = await read(
    'codes.xlsx',
    zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="Codes" r:id="a"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': '<R><Relationship Id="a" Target="worksheets/s.xml"/></R>',
      'xl/styles.xml': `<s><numFmts>${codes.map((code, at) => `<numFmt numFmtId="${170 + at}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs>${codes.map((_, at) => `<xf numFmtId="${170 + at}"/>`).join('')}</cellXfs></s>`,
      'xl/worksheets/s.xml': `<w><sheetData><row>${cells.map((value, at) => `<c s="${at}"><v>${value}</v></c>`).join('')}</row></sheetData></w>`,
      'xl/worksheets/_rels/s.xml.rels':
        '<R><Relationship Id="d" Type="x/relationships/drawing" Target="../drawings/d.xml"/></R>',
      'xl/drawings/d.xml': '<d><a:p><a:r><a:t>Ask Ann first.</a:t></a:r></a:p></d>',
    }),
  );
  expect(parts(sections)).toEqual([
    ['Codes', '01234 | 012-34-5678 | 3.50 | (555) 123-4567', 'Ask Ann first.'],
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

test('cells of a workbook are as the sheet shows them; hidden sheets are named', async () => {
  const formats = ['0.00%', '[h]:mm', '[$-409]d\\-mmm\\-yy;@', '#,##0.00 "days"', 'yyyy-mm-dd hh:mm'];
  const cell = (place: string, value: string, facts = '') =>
    `<x:c r="${place}"${facts}><x:v>${value}</x:v></x:c>`;
  const text = (place: string, words: string) => `<x:c r="${place}" t="str"><x:v>${words}</x:v></x:c>`;
  const rows = [
    [text('A1', 'Boat'), text('B1', 'Share'), text('C1', 'Time'), text('D1', 'Date'), text('E1', 'Sum')],
    [
      text('A2', 'Ida'),
      cell('B2', '0.25', ' s="1"'),
      cell('C2', '1.5', ' s="2"'),
      cell('D2', '59', ' s="3"'),
      '<x:c r="E2"><x:f>SUM(B2:B3)</x:f></x:c>',
    ],
    [
      cell('B3', '0.30000000000000004'),
      cell('C3', '12.5', ' s="4"'),
      cell('D3', '45292.75', ' s="5"'),
      cell('E3', '#REF!', ' t="e"'),
    ],
  ];
  const sheet = rows.map((cells, at) => `<x:row r="${at + 1}">${cells.join('')}</x:row>`).join('');
  const { sections, problems } = await read(
    'b.xlsx',
    zipOf({
      'xl/workbook.xml':
        '<x:workbook><x:sheets><x:sheet name="Fleet" r:id="a"/><x:sheet name="Lists" state="veryHidden" r:id="b"/></x:sheets></x:workbook>',
      'xl/_rels/workbook.xml.rels':
        '<R><Relationship Id="a" Target="worksheets/s.xml"/><Relationship Id="b" Target="worksheets/t.xml"/></R>',
      'xl/styles.xml': `<x:s><x:numFmts>${formats.map((code, at) => `<x:numFmt numFmtId="${170 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`).join('')}</x:numFmts><x:cellXfs><x:xf numFmtId="0"/>${formats.map((_, at) => `<x:xf numFmtId="${170 + at}"/>`).join('')}</x:cellXfs></x:s>`,
      'xl/worksheets/s.xml': `<x:w><x:sheetData>${sheet}</x:sheetData><x:mergeCells><x:mergeCell ref="A2:A3"/></x:mergeCells></x:w>`,
      'xl/worksheets/t.xml': `<x:w><x:sheetData><x:row>${text('A1', 'secret')}</x:row></x:sheetData></x:w>`,
      'xl/worksheets/_rels/s.xml.rels':
        '<R><Relationship Id="c" Type="x/relationships/comments" Target="/xl/comments/comment1.xml"/></R>',
      'xl/comments/comment1.xml':
        '<c><comment ref="B2"><text><r><t>Of the catch.</t></r></text></comment></c>',
    }),
  );
  const head = 'Boat | Share | Time | Date | Sum';
  expect(parts(sections)).toEqual([
    [
      'Fleet',
      `${head} / Ida | 25% | 36:00:00 | 1900-02-28 | =SUM(B2:B3)`,
      `${head} / Ida | 0.3 | 12.50 | 2024-01-01 18:00 | #REF!`,
      'Comment on B2: Of the catch.',
    ],
  ]);
  expect(problems).toEqual(['the sheet "Lists" is hidden']);
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
        '<R><Relationship Id="n" Type="x/relationships/notesSlide" Target="../notesSlides/notesSlide1.xml"/></R>',
      'ppt/notesSlides/notesSlide1.xml': `<p>${shape('Speak slowly.', 'body')}</p>`,
    }),
  );
  expect(parts(sections)).toEqual([
    ['Tides', 'High water', 'Speak slowly.'],
    ['Last', 'Last'],
  ]);
  expect(sections.map(({ page }) => page)).toEqual([1, 2]);
});

test('slides have the rows of their tables and the texts of their diagrams; hidden slides are named', async () => {
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const row = (...cells: string[]) =>
    `<a:tr>${cells.map((text) => `<a:tc><a:txBody>${paragraph(text)}</a:txBody></a:tc>`).join('')}</a:tr>`;
  const { sections, problems } = await read(
    'b.pptx',
    zipOf({
      'ppt/presentation.xml': '<p><p:sldId r:id="a"/><p:sldId r:id="b"/></p>',
      'ppt/_rels/presentation.xml.rels':
        '<R><Relationship Id="a" Target="/ppt/slides/slide1.xml"/><Relationship Id="b" Target="slides/slide2.xml"/></R>',
      'ppt/slides/slide1.xml': `<p:sld><p:graphicFrame><a:tbl>${row('Boat', 'Berth')}${row('Ida', '4')}</a:tbl></p:graphicFrame></p:sld>`,
      'ppt/slides/_rels/slide1.xml.rels':
        '<R><Relationship Id="d" Type="x/relationships/diagramData" Target="../diagrams/data1.xml"/><Relationship Id="c" Type="x/relationships/chart" Target="../charts/chart1.xml"/></R>',
      'ppt/charts/chart1.xml': catchChart,
      'ppt/diagrams/data1.xml': `<dgm>${paragraph('Sail')}${paragraph('Dock')}</dgm>`,
      'ppt/slides/slide2.xml': `<p:sld show="0">${paragraph('Not now.')}</p:sld>`,
    }),
  );
  expect(parts(sections)).toEqual([
    ['', 'Boat | Berth / Ida | 4', 'Sail', 'Dock', 'Catch', 'Herring: Oslo 12.5, Bergen 7'],
  ]);
  expect(problems).toEqual(['slide 2 is hidden']);
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
  expect(parts(sections)).toEqual([['Lamp', 'It burns.', 'Comment: no', '- oil', 'a | b /  | 2']]);
});

test('notes and comments of OpenDocument follow their paragraph, and spans keep their columns', async () => {
  const cell = (text: string, facts = '') =>
    `<table:table-cell${facts}><text:p>${text}</text:p></table:table-cell>`;
  const covered = '<table:covered-table-cell/>';
  const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`;
  const { sections } = await read(
    'b.odt',
    zipOf({
      'content.xml': `<d><office:text><text:tracked-changes><text:p>old</text:p></text:tracked-changes>
        <text:p>High<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>At noon.</text:p></text:note-body></text:note> water<office:annotation><dc:creator>Ann</dc:creator><dc:date>2026</dc:date><text:p>Check.</text:p></office:annotation>.</text:p>
        <table:table>${row(cell('a'), cell('b'), cell('c'))}
        ${row(cell('wide', ' table:number-columns-spanned="2"'), covered, cell('3'))}
        ${row(cell('tall', ' table:number-rows-spanned="2"'), cell('5'), cell('6'))}${row(covered, cell('8'), cell('9'))}</table:table></office:text></d>`,
    }),
  );
  expect(parts(sections)).toEqual([
    [
      '',
      'High water.',
      'At noon.',
      'Comment by Ann: Check.',
      'a | b | c / wide |  | 3',
      'a | b | c / tall | 5 | 6',
      'a | b | c / tall | 8 | 9',
    ],
  ]);
});

test('sheets and slides of OpenDocument have their names and titles; hidden ones are named', async () => {
  const style = (name: string, facts: string) => `<style:style style:name="${name}">${facts}</style:style>`;
  const sheet = (name: string, facts: string, text: string) =>
    `<table:table table:name="${name}"${facts}><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>${text}</text:p></table:table-cell></table:table-row></table:table>`;
  const book = await read(
    'c.ods',
    zipOf({
      'content.xml': `<d>${style('ta2', '<style:table-properties table:display="false"/>')}<office:spreadsheet>${sheet('Fleet', '', 'Ida')}${sheet('Lists', ' table:style-name="ta2"', 'secret')}</office:spreadsheet></d>`,
    }),
  );
  expect(parts(book.sections)).toEqual([['Fleet', 'Ida | Ida']]);
  expect(book.problems).toEqual(['the sheet "Lists" is hidden']);
  const frame = (kind: string, text: string) =>
    `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
  const slides = await read(
    'c.odp',
    zipOf({
      'content.xml': `<d><office:presentation><draw:page draw:name="page1">${frame('title', 'Tides')}${frame('outline', 'High water')}<presentation:notes>${frame('notes', 'Speak slowly.')}</presentation:notes></draw:page><draw:page draw:name="page2">${frame('outline', 'Low water')}</draw:page></office:presentation></d>`,
    }),
  );
  expect(parts(slides.sections)).toEqual([
    ['Tides', 'High water', 'Speak slowly.'],
    ['page2', 'Low water'],
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

test('a slide may have a table of any length', async () => {
  const row = '<a:tr><a:tc><a:p><a:t>a</a:t></a:p></a:tc></a:tr>';
  const { sections } = await read(
    'long.pptx',
    zipOf({
      'ppt/presentation.xml': '<p:presentation><p:sldId r:id="r"/></p:presentation>',
      'ppt/_rels/presentation.xml.rels': '<a><Relationship Id="r" Target="s.xml"/></a>',
      'ppt/s.xml': `<p:sld><a:tbl>${row.repeat(130_000)}</a:tbl></p:sld>`,
    }),
  );
  expect(sections.flatMap(({ blocks }) => blocks)).toHaveLength(129_999);
});
