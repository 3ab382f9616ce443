// The readers of files with parts: mails, documents of office programs, books, what Outlook wraps, and scans. See list.mjs.

import { unwrapMail } from '../../../dist/src/documents/formats/mail/tnef.js';
import { joinWords } from '../../../dist/src/documents/formats/pdf-text.js';
import { textOfScan } from '../../../dist/src/documents/ocr/scan-text.js';
import { documentRow } from './list-files.mjs';
import { odd, refused, words, zipOf } from './parts.mjs';

const lines = (text) => words(text).map((word) => `${word}\n`);
const head = 'From: a <a@b.c>\nTo: d\nSubject: s\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n';
const parted = `${head}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n`;

const mailTokens = [
  ...words('=?utf-8?Q?a?= =?utf-8?B?YQ==?= =20 = a@b <a@b> , ; : ( ) " \\ *0*=a name=a =3D YQ== &amp;'),
  ...lines('--b --b-- --c Content-Type:text/html Content-Type:message/rfc822 X: From: Subject:'),
  'Content-Type: multipart/mixed; boundary=c\n\n',
  'Content-Transfer-Encoding: base64\n',
  'Content-Transfer-Encoding: quoted-printable\n',
  'Content-Disposition: attachment; filename=a.txt\n',
  'References: <a>\n',
  '\n\n',
  ' x\n',
];

const mailSeeds = [
  { head: parted, unit: '--b\n\nx\n' },
  { head: parted, unit: '--b\nContent-Type: text/html\n\n<p>x\n' },
  { head: parted, unit: '--b\nContent-Disposition: attachment; filename=a.txt\n\nx\n' },
  { head: `${parted}--b\nContent-Type: text/html\n\n`, unit: '<a ' },
  { head: `${parted}--b\nContent-Transfer-Encoding: base64\n\n`, unit: 'YWFhYWFhYWFhYWFh\n' },
  { head: `${parted}--b\nContent-Type: message/rfc822\n\n`, unit: '--b\n' },
  { head: `${head}To: `, unit: 'a@b, ', tail: '\n\nx' },
  { head: `${head}X: `, unit: '=?utf-8?Q?a?= ', tail: '\n\nx' },
  { head: `${head}Content-Type: a; `, unit: 'n*0*=a; ', tail: '\n\nx' },
];

const xml = words('< > </ /> <a> </a> & &amp; = " <!-- --> <![CDATA[ ]]>');

const officeRows = [
  [
    'Word',
    '.docx',
    ['<w:p>', '</w:p>', '<w:t>a</w:t>', '<w:tbl>', '</w:tbl>', '<w:tr>', '<w:tc>', '</w:tc>', '<w:vMerge/>'],
    [
      { unit: '<w:p><w:r><w:t>a</w:t></w:r></w:p>' },
      { head: '<w:tbl><w:tr>', unit: '<w:tc><w:p><w:t>a</w:t></w:p></w:tc>' },
      { head: '<w:tbl>', unit: '<w:tr><w:tc><w:vMerge/><w:p/></w:tc></w:tr>' },
      { unit: '<w:p><w:txbxContent>', close: '</w:txbxContent></w:p>' },
    ],
    (text) => zipOf({ 'word/document.xml': `<w:document>${text}` }),
  ],
  [
    'comments of Word',
    '.docx',
    ['<w:comment w:id="1">', '</w:comment>', '<w:p>', '</w:p>', '<w:t>a</w:t>'],
    [{ unit: '<w:comment w:id="1"><w:p><w:t>a</w:t></w:p></w:comment>' }],
    (text) =>
      zipOf({ 'word/document.xml': '<w:p><w:t>a</w:t></w:p>', 'word/comments.xml': `<w:comments>${text}` }),
  ],
  [
    'Excel',
    '.xlsx',
    [
      '<row>',
      '</row>',
      '<c><v>1</v></c>',
      '<c r="ALL1"/>',
      '<c t="s"><v>0</v></c>',
      '<mergeCell ref="A1:A9999"/>',
      '<c s="1"><v>40000</v></c>',
    ],
    [
      { unit: '<row><c><v>1</v></c></row>' },
      { unit: '<row><c r="ALL1"><v>1</v></c></row>' },
      { head: '<row r="1"><c><v>7</v></c></row>', unit: '<mergeCell ref="A1:A999"/><row/>' },
    ],
    (text) => workbookOf(`<sheetData>${text}`, '<si><t>a shared text</t></si>'),
  ],
  [
    'shared texts of Excel',
    '.xlsx',
    ['<si>', '</si>', '<t>', '</t>', '<t>a</t>', '<rPh>', '</rPh>'],
    [{ unit: '<si><t>a</t></si>' }],
    (text) => workbookOf('<row><c t="s"><v>0</v></c><c t="s"><v>9</v></c></row>', text),
  ],
  [
    'PowerPoint',
    '.pptx',
    [
      '<p:sp>',
      '</p:sp>',
      '<a:p>',
      '</a:p>',
      '<a:t>a</a:t>',
      '<a:tbl>',
      '</a:tbl>',
      '<a:tr>',
      '<a:tc>',
      '</a:tc>',
    ],
    [
      { unit: '<a:p><a:t>a</a:t></a:p>' },
      { head: '<p:sp><p:ph type="title"/>', unit: '<a:p><a:t>a</a:t></a:p>' },
      { head: '<a:tbl>', unit: '<a:tr><a:tc/></a:tr>', tail: '</a:tbl>' },
    ],
    (text) =>
      zipOf({
        'ppt/presentation.xml': '<p:sldId r:id="r"/>',
        'ppt/_rels/presentation.xml.rels': '<Relationship Id="r" Target="a.xml"/>',
        'ppt/a.xml': `<p:sld>${text}`,
      }),
  ],
  [
    'OpenDocument',
    '.odt',
    [
      '<text:p>',
      '</text:p>',
      '<table:table>',
      '</table:table>',
      '<table:table-row>',
      '<table:table-cell table:number-columns-repeated="99">',
      '</table:table-cell>',
      '<text:note>',
      '</text:note>',
      '<text:s/>',
    ],
    [
      { unit: '<text:p>a</text:p>' },
      { unit: '<text:p><text:note>', close: '</text:note></text:p>' },
      { head: '<table:table>', unit: '<table:table-row><table:table-cell/></table:table-row>' },
    ],
    (text) => zipOf({ 'content.xml': `<office:body>${text}` }),
  ],
  [
    'chapters of a book',
    '.epub',
    ['<p>', '</p>', '<h1>', '<li>', '<table>', '<tr>', '<td>', '</td>', '<br/>'],
    [{ unit: '<p>a</p>' }, { unit: '<table><tr><td>' }],
    (text) => bookOf('<itemref idref="a"/>', text),
  ],
  [
    'the order of a book',
    '.epub',
    [
      '<itemref idref="a"/>',
      '<item id="b" href="a.x"/>',
      '<item id="c" href="../OPS/a.x"/>',
      '<itemref idref="b"/>',
    ],
    [{ unit: '<itemref idref="a"/>' }],
    (text) => bookOf(text, '<p>a chapter</p>'.repeat(500)),
  ],
];

function workbookOf(sheet, texts) {
  return zipOf({
    'xl/workbook.xml': '<workbook><sheet name="s" r:id="r"/>',
    'xl/_rels/workbook.xml.rels': '<Relationship Id="r" Target="a.xml"/>',
    'xl/sharedStrings.xml': `<sst>${texts}`,
    'xl/styles.xml': '<cellXfs><xf/><xf numFmtId="14"/></cellXfs>',
    'xl/a.xml': `<worksheet>${sheet}`,
  });
}

function bookOf(spine, chapter) {
  return zipOf({
    'META-INF/container.xml': '<rootfile full-path="OPS/a.opf"/>',
    'OPS/a.opf': `<item id="a" href="a.x"/>${spine}`,
    'OPS/a.x': chapter,
  });
}

const number = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('latin1');
};
/** An attribute of the format of Outlook. */
const attribute = (id, data) => `\x01${number(id)}${number(data.length)}${data}\0\0`;
const property = (id, type, data) => `${type}\0${String.fromCharCode(id & 255, id >> 8)}${data}`;

const wrapped = {
  name: 'what Outlook wraps',
  ownThread: true,
  tokens: [
    attribute(0x69002, ''),
    attribute(0x18010, 'a.txt'),
    attribute(0x6800f, 'x'),
    attribute(0x69003, number(1) + property(0x1000, '\x1e', `${number(1)}${number(4)}abc\0`)),
    attribute(0x69005, number(9)),
    number(1),
    number(0xffffffff),
    '\0',
    '\xff',
  ],
  seeds: [
    { unit: attribute(0x69002, '') + attribute(0x18010, 'a') + attribute(0x6800f, 'x') },
    {
      head: `\x01${number(0x69003)}${number(0x7fffff)}${number(9999)}`,
      unit: property(0x3001, '\x03', number(1)),
    },
  ],
  read: async (text) =>
    refused(() =>
      unwrapMail(Buffer.concat([Buffer.from('789f3e220000', 'hex'), Buffer.from(text, 'latin1')])),
    ),
};

const scans = {
  name: 'texts of scans',
  ownThread: true,
  tokens: [...words('a b-\\n A B- 1 word'), 'a-\n', 'B\n', '\n\n', '\f', ' ', ...odd],
  seeds: [{ unit: 'a\n' }, { unit: 'ab-\nc\n' }, { unit: 'AB-\nCD ' }],
  read: async (text) => joinWords([textOfScan(text)]),
};

const scripts = [
  ['Python', '.py', 'def class async ( ) : # @a """ a='],
  ['C', '.c', 'int a( void * & ; { } #define static const'],
  ['C++', '.hpp', 'class A { } template < > :: operator ~A ( ) ; &'],
  ['Rust', '.rs', "impl < > for fn a pub(crate) { } ' & unsafe"],
  ['Java', '.java', 'class A public static void a ( ) { } <T> @A ;'],
  ['SQL', '.sql', 'CREATE TABLE a ( ) ; -- OR REPLACE IF NOT EXISTS'],
  ['Swift', '.swift', 'class A init ( ) { } func a override'],
  ['Clojure', '.clj', '(defn a ) (ns ^a [ ] ;;'],
];

export function containers(folder, limit) {
  const row = documentRow(folder, limit);
  return [
    row('mail', '.eml', mailTokens, mailSeeds, (text) =>
      text.startsWith('From:') ? text : `${parted}${text}`,
    ),
    row(
      'mailbox',
      '.mbox',
      ['\n\nFrom a Mon 1 0:00\nSubject: s\n\nx\n', ...mailTokens, '>From '],
      [],
      (text) => (text.startsWith('From ') ? text : `From a Mon Jan 1 00:00:00 2024\n${head}\n${text}`),
    ),
    ...officeRows.map(([name, ending, tokens, seeds, bytesOf]) =>
      row(name, ending, [...tokens, ...xml], seeds, bytesOf),
    ),
    row(
      'RTF',
      '.rtf',
      words(
        "{ } \\par \\s1 \\f1 \\'e9 \\u233? \\b \\row \\intbl \\cell \\* \\bin9 \\uc9 \\pict heading \\fcharset2 \\pard \\\\",
      ),
      [
        { unit: "{\\f1\\'e9}" },
        { unit: '\\intbl a\\par ' },
        { unit: '\\s1 heading ' },
        { unit: '\\u233?' },
        { unit: '{', close: '}' },
      ],
      (text) => `{\\rtf1${text}`,
    ),
    row('YAML', '.yaml', [...words('a: - [ ] { } & * | > # " \''), '---\n', 'a: b\n'], []),
    row('settings', '.toml', [...words('[a] [[a]] a=1 # ; "'), '[a]\n', 'a=1\n'], [{ unit: '[a]\n' }]),
    ...scripts.map(([name, ending, tokens]) =>
      row(
        `code in ${name}`,
        ending,
        [...words(tokens), '\t', 'a(', 'a::', ', '],
        [{ unit: `${tokens.slice(0, 60)}\n` }, { unit: `    ${tokens.slice(0, 60)}\n` }],
      ),
    ),
    { ...wrapped, limit },
    { ...scans, limit: Math.min(limit, 1024 * 1024) },
  ];
}
