// The readers of calendars, contacts, and pages of PDF files: see list.mjs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutsOf } from '../../../dist/src/documents/chunks.js';
import { DocumentReader } from '../../../dist/src/documents/reader.js';
import { documentRow } from './list-files.mjs';
import { refused, words } from './parts.mjs';

const lines = (text) => words(text).map((word) => `${word}\n`);
const cardTokens = [
  ...lines(
    'BEGIN:VCARD END:VCARD FN:a N:a;b TEL;TYPE=home:1 a.TEL:1 a.X-ABLABEL:b ADR:;;a;b CATEGORIES:a,b NOTE:a NOTE;ENCODING=QUOTED-PRINTABLE:=41=',
  ),
  ...words('; , : \\ " = \\, =41 CHARSET=latin1 ;a="b"'),
  ' a\n',
  '\r',
];
const calendarTokens = [
  ...lines(
    'BEGIN:VCALENDAR END:VCALENDAR BEGIN:VEVENT END:VEVENT BEGIN:VTODO BEGIN:VTIMEZONE BEGIN:STANDARD BEGIN:DAYLIGHT END:STANDARD TZID:a SUMMARY:a DTSTART:20240101T000000Z DTSTART;TZID=a:20240101T000000 DTEND;VALUE=DATE:20240102 RRULE:FREQ=DAILY;BYDAY=MO,TU;COUNT=9 EXDATE:20240101 ATTENDEE;CN=a:mailto:b DURATION:P1DT1H UID:a RECURRENCE-ID:20240101 TZOFFSETTO:+0100',
  ),
  ...words('; , : \\ " = ;CN="a"'),
  ' a\n',
];

/** A file of one page, whose content is `text`. */
function pdfOf(text) {
  const content = Buffer.from(text);
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>',
    Buffer.concat([
      Buffer.from(`<</Length ${content.length}>>stream\n`),
      content,
      Buffer.from('\nendstream'),
    ]),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  const parts = [Buffer.from('%PDF-1.4\n')];
  const places = [];
  let at = parts[0].length;
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ]);
    places.push(at);
    parts.push(part);
    at += part.length;
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    Buffer.from(
      `xref\n0 6\n0000000000 65535 f \n${table}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${at}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}

/** Without `q`: pdf.js takes a time that grows with the square of those that are not ended, until the page's time is over. */
const pages = {
  tokens: [
    'BT ',
    'ET ',
    '/F 12 Tf ',
    '1 0 0 1 72 700 Tm ',
    '0 -14 Td ',
    '40 0 Td ',
    '(a) Tj ',
    '(word-) Tj ',
    '(     ) Tj ',
    "(a) ' ",
    'T* ',
    '[(a) -900 (b)] TJ ',
    '0 1 -1 0 9 9 Tm ',
    '9 0 0 9 0 0 cm ',
  ],
  seeds: [
    { head: 'BT /F 9 Tf 12 TL ', unit: '(a) Tj T* ', tail: 'ET' },
    { head: 'BT /F 9 Tf 1 0 0 1 72 700 Tm ', unit: '(a) Tj 0 -9 Td 200 0 Td (b) Tj -200 0 Td ', tail: 'ET' },
    { head: 'BT /F 9 Tf 1 0 0 1 72 700 Tm ', unit: '(a) Tj 12 0 Td ', tail: 'ET' },
    { head: 'BT /F 9 Tf (', unit: 'a ', tail: ') Tj ET' },
    { head: 'BT /F 9 Tf 1 0 0 1 72 700 Tm ', unit: '(a) Tj ', tail: 'ET' },
  ],
};

/** Loading pdf.js takes longer than a page. */
function pageRow(folder) {
  let reader;
  const path = join(folder, 'page.pdf');
  return {
    name: 'documents: pages of PDF files',
    // pdf.js takes long for each operator; a page that takes longer than its time is given up.
    limit: 16 * 1024,
    ownThread: true,
    ...pages,
    open: () => {
      reader = new DocumentReader();
    },
    close: () => reader[Symbol.asyncDispose](),
    read: async (text) => {
      writeFileSync(path, pdfOf(text));
      const cut = async (document) => {
        for await (const _ of cutsOf(document, { size: 1200, overlap: 150 }));
      };
      await refused(() => reader.read(path, cut));
    },
  };
}

export function cards(folder, limit) {
  const row = documentRow(folder, limit);
  return [
    row(
      'calendar',
      '.ics',
      calendarTokens,
      [
        { unit: 'BEGIN:VEVENT\n' },
        { unit: 'BEGIN:VEVENT\nSUMMARY:a\nDTSTART:20240101T000000Z\nEND:VEVENT\n' },
        { unit: 'BEGIN:VTIMEZONE\nTZID:a\nEND:VTIMEZONE\n' },
        { head: 'BEGIN:VEVENT\nSUMMARY:', unit: 'a\n ' },
        { head: 'BEGIN:VEVENT\n', unit: 'ATTENDEE;CN="a":mailto:b\n' },
        { head: 'BEGIN:VEVENT\nRRULE:', unit: 'BYDAY=MO,TU;' },
        { head: 'BEGIN:VEVENT\nUID:a\nSUMMARY:b\n', unit: 'EXDATE:20240101\n' },
        { unit: 'BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20240101\nSUMMARY:b\nDTSTART:20240101\nEND:VEVENT\n' },
      ],
      (text) => `BEGIN:VCALENDAR\n${text}`,
    ),
    row(
      'contacts',
      '.vcf',
      cardTokens,
      [
        { unit: 'BEGIN:VCARD\nFN:a\nTEL:1\nEND:VCARD\n' },
        { unit: 'BEGIN:VCARD\n' },
        { unit: 'a.TEL:1\na.X-ABLABEL:b\n' },
        { head: 'N:', unit: ';' },
        { head: 'CATEGORIES:', unit: 'a\\,,' },
        { head: 'NOTE;ENCODING=QUOTED-PRINTABLE:', unit: '=41=\n' },
        { head: 'NOTE;ENCODING=QUOTED-PRINTABLE:', unit: '= \t' },
        { head: 'TEL', unit: ';TYPE=a' },
      ],
      (text) => `BEGIN:VCARD\nFN:x\n${text}`,
    ),
    row(
      'tab-separated values',
      '.tsv',
      [...words('a " "" 1'), '\t', '\n', '\r\n', '"a\n'],
      [{ unit: 'a\t' }],
    ),
    row(
      'MDX',
      '.mdx',
      [
        ...words('<A> </A> <A/> { } {/* */} import export # ` ``` <A a={'),
        'import a from "b"\n',
        'export const a = {\n',
      ],
      [
        { unit: '<A>', close: '</A>' },
        { unit: '{', close: '}' },
        { unit: '<A a={' },
        { unit: 'export const a = {\n' },
      ],
    ),
    pageRow(folder),
  ];
}
