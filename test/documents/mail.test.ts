/** Mails, mailboxes and Rich Text. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { pdfOf } from './pdf-file.js';

const folder = mkdtempSync(join(tmpdir(), 'lorekeep-mail-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function read(name: string, content: string | Buffer) {
  const path = join(folder, name);
  writeFileSync(path, content);
  await using reader = new DocumentReader();
  return await reader.read(path, async ({ title, metadata, sections, problems }) => {
    const list: Section[] = [];
    for await (const section of sections) list.push(section);
    return { title, metadata, sections: list, problems };
  });
}

const textOf = ({ blocks }: Section) => blocks.map(({ text }) => text).join('\n');

const mail = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'), 'latin1');

const head = [
  'From: =?utf-8?B?w4VzYQ==?= Lindqvist <asa@harbour.example>',
  'To: Ann Lee <ann@harbour.example>, bob@harbour.example',
  'Subject: =?iso-8859-1?Q?Th=E9_lamp?=',
  'Date: Tue, 03 Mar 2026 10:00:00 +0100',
  'Message-ID: <two@harbour.example>',
  'References: <one@harbour.example> <reply@harbour.example>',
  'MIME-Version: 1.0',
];

test('a mail gives its head, its text in any encoding, and its attachments', async () => {
  const { title, metadata, sections, problems } = await read(
    'a.eml',
    mail([
      ...head,
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'The caf=E9 has a lamp that is lit at =',
      'dusk.',
      '--b',
      'Content-Type: application/pdf; name=plan.pdf',
      'Content-Disposition: attachment; filename=plan.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      ...(pdfOf([['The plan of the harbour.']])
        .toString('base64')
        .match(/.{1,76}/g) ?? []),
      '--b',
      'Content-Type: image/png; name=lamp.png',
      'Content-Disposition: attachment; filename=lamp.png',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw0KGgo=',
      '--b',
      'Content-Type: application/pdf; name=broken.pdf',
      'Content-Disposition: attachment; filename=broken.pdf',
      '',
      'no PDF',
      '--b--',
    ]),
  );
  expect(title).toBe('Thé lamp');
  expect(metadata).toEqual({
    from: 'Åsa Lindqvist <asa@harbour.example>',
    to: 'Ann Lee <ann@harbour.example>, bob@harbour.example',
    sent: Date.UTC(2026, 2, 3, 9),
    thread: '<one@harbour.example>',
  });
  expect(sections.map(({ headings, anchor }) => [headings, anchor])).toEqual([
    [[], ''],
    [['plan.pdf'], 'attachment=plan.pdf/page=1'],
  ]);
  expect(textOf(sections[0] as Section)).toContain('From: Åsa Lindqvist');
  expect(textOf(sections[0] as Section)).toContain('The café has a lamp that is lit at dusk.');
  expect(textOf(sections[1] as Section)).toBe('The plan of the harbour.');
  expect(problems).toEqual([
    expect.stringMatching(/^broken.pdf: is not a readable PDF/),
    'attachments of other kinds are left out: 1 .png; --ocr reads the text of pictures',
  ]);
});

test('forwarded mails are read, within the text or attached without a name, and so are unnamed files', async () => {
  const forwarded = (subject: string, text: string) => [
    'From: bob@harbour.example',
    `Subject: ${subject}`,
    'Content-Type: text/plain; charset=cp1251',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    text,
  ];
  const { sections, problems } = await read(
    'forwarded.eml',
    mail([
      ...head,
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=koi8-r',
      'Content-Transfer-Encoding: 8bit',
      '',
      Buffer.from('edc1d1cb', 'hex').toString('latin1'),
      '--b',
      'Content-Type: message/rfc822',
      '',
      ...forwarded('Inline', '=CC=E0=FF=EA one.'),
      '--b',
      'Content-Type: message/rfc822',
      'Content-Disposition: attachment',
      '',
      ...forwarded('Attached', '=CC=E0=FF=EA two.'),
      '--b',
      'Content-Type: text/csv; name=ATT00001',
      'Content-Disposition: attachment',
      '',
      'a,b',
      '--b--',
    ]),
  );
  expect(problems).toEqual([]);
  expect(textOf(sections[0] as Section)).toContain('Маяк');
  expect(sections.slice(1).map((section) => [section.headings, textOf(section)])).toEqual([
    [['message.eml', 'Inline'], expect.stringContaining('Маяк one.')],
    [['message.eml', 'Attached'], expect.stringContaining('Маяк two.')],
    [['ATT00001.csv'], 'a,b'],
  ]);
});

/** A file as Outlook wraps the parts of a mail. */
function wrappedMail(properties: Buffer, files: Readonly<Record<string, string>>): Buffer {
  const attribute = (id: number, data: Buffer) => {
    const begin = Buffer.alloc(9);
    begin.writeUInt32LE(id, 1);
    begin.writeUInt32LE(data.length, 5);
    return Buffer.concat([begin, data, Buffer.alloc(2)]);
  };
  return Buffer.concat([
    Buffer.from('789f3e220000', 'hex'),
    attribute(0x0006_9003, properties),
    ...Object.entries(files).flatMap(([name, text]) => [
      attribute(0x0006_9002, Buffer.alloc(14)),
      attribute(0x0001_8010, Buffer.from(`${name}\0`)),
      attribute(0x0006_800f, Buffer.from(text)),
    ]),
  ]);
}

/** The list of properties with one value of bytes; before it is a named number. */
function propertyList(id: number, value: Buffer): Buffer {
  const begin = Buffer.alloc(4 + 4 + 24 + 4 + 12);
  begin.writeUInt32LE(2, 0);
  begin.writeUInt16LE(0x03, 4);
  begin.writeUInt16LE(0x8001, 6);
  begin.writeUInt16LE(0x0102, 36);
  begin.writeUInt16LE(id, 38);
  begin.writeUInt32LE(1, 40);
  begin.writeUInt32LE(value.length, 44);
  return Buffer.concat([begin, value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
}

/** The example of Microsoft's description of packed Rich Text. */
const packedRtf = Buffer.from(
  '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c0900206277' + '05b06c647d0a800fa0',
  'hex',
);

const wrappedIn = (wrapped: Buffer) =>
  mail([
    ...head,
    'Content-Type: application/ms-tnef; name=winmail.dat',
    'Content-Transfer-Encoding: base64',
    '',
    ...(wrapped.toString('base64').match(/.{1,76}/g) ?? []),
  ]);

test.each([
  ['packed Rich Text', 0x1009, packedRtf, 'hello world'],
  ['HTML', 0x1013, Buffer.from('<p>Lit at <b>dusk</b>.</p>'), 'Lit at dusk.'],
])('the text and the files of winmail.dat are read: %s', async (_, id, value, text) => {
  const wrapped = wrappedMail(propertyList(id, value), { 'plan.txt': 'The plan.', 'lamp.zip': 'PK' });
  const { sections, problems } = await read('wrapped.eml', wrappedIn(wrapped));
  expect(sections.slice(1).map((section) => [section.headings, textOf(section)])).toEqual([
    [[], text],
    [['plan.txt'], 'The plan.'],
  ]);
  expect(problems).toEqual(['attachments of other kinds are left out: 1 .zip']);
});

test('no damage of winmail.dat crashes its reader', async () => {
  const whole = wrappedMail(propertyList(0x1009, packedRtf), { 'plan.txt': 'The plan.' });
  for (let at = 4; at < whole.length; at += 3) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] as number) ^ 0xff;
    const { sections } = await read('damaged.eml', wrappedIn(damaged));
    expect(sections.length).toBeGreaterThan(0);
  }
});

test('mails within mails are read to a depth, each once', async () => {
  let nested = 'From: a@b.example\r\nSubject: innermost\r\n\r\nDeep.\r\n'.repeat(2000);
  for (let at = 20; at > 0; at--)
    nested = `From: a@b.example\r\nSubject: level ${at}\r\nContent-Type: message/rfc822\r\n\r\n${nested}`;
  const { title, sections, problems } = await read('nested.eml', nested);
  expect(title).toBe('level 1');
  expect(sections.at(-1)?.headings).toEqual([
    'message.eml',
    'level 2',
    'message.eml',
    'level 3',
    'message.eml',
    'level 4',
  ]);
  expect(problems).toEqual([
    'message.eml: message.eml: message.eml: attachments of other kinds are left out: 1 .eml',
  ]);
});

test('a mail of HTML alone is read as a page', async () => {
  const { sections } = await read(
    'html.eml',
    mail([
      ...head,
      'Content-Type: text/html',
      '',
      '<style>p{}</style><h2>Tide</h2><p>High at <b>noon</b>.</p>',
    ]),
  );
  expect(sections.map((section) => [section.headings, textOf(section)])).toEqual([
    [[], expect.stringContaining('To: Ann Lee')],
    [['Tide'], 'High at noon.'],
  ]);
});

test('a mail in Windows-1252 keeps its signs, and a page wins over a text that stands for it', async () => {
  const page = '<p>The price is =80 5, and it=92s final. The harbour master has the keys of all berths.</p>';
  const parts = (text: string) => [
    ...[
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      text,
      '--b',
    ],
    ...[
      'Content-Type: text/html; charset=windows-1252',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      page,
    ],
    '--b--',
  ];
  const stub = await read('stub.eml', mail([...head, ...parts('No HTML?')]));
  expect(stub.sections.map(textOf).join()).toContain('The price is € 5, and it’s final.');
  const text = 'The price is five, and it is final. The harbour master has the keys.';
  const both = await read('both.eml', mail([...head, ...parts(text)]));
  expect(both.sections.map(textOf).join()).toContain(text);
});

test('a mailbox gives a section per mail; lines of text that begin with From stay text', async () => {
  const { sections } = await read(
    'all.mbox',
    [
      'From asa@harbour.example Tue Mar  3 10:00:00 2026',
      'From: asa@harbour.example',
      'Subject: One',
      'Message-ID: <one@harbour.example>',
      '',
      'First.',
      '',
      'From the tower one sees the lamp.',
      '>From here, too.',
      '',
      'From - Wed Mar  4 10:00:00 2026',
      'From: bob@harbour.example',
      'Subject: Re: One',
      'In-Reply-To: <one@harbour.example>',
      'Message-ID: <two@harbour.example>',
      '',
      'Second.',
      '',
    ].join('\n'),
  );
  expect(sections.map(({ title, anchor, metadata }) => [title, anchor, metadata?.thread])).toEqual([
    ['One', 'mail=1', '<one@harbour.example>'],
    ['Re: One', 'mail=2', '<one@harbour.example>'],
  ]);
  expect(textOf(sections[0] as Section)).toContain('From the tower one sees the lamp.\nFrom here, too.');
});

test('what is no mail is refused', async () => {
  await expect(read('no.eml', 'just words')).rejects.toThrow(/is not a mail/);
  await expect(read('no.mbox', 'just words')).rejects.toThrow(/is not a mailbox/);
  await expect(read('no.rtf', 'just words')).rejects.toThrow(/is not RTF/);
  const deep = Array.from({ length: 60 }, (_, at) => [
    `Content-Type: multipart/mixed; boundary=b${at}`,
    '',
    `--b${at}`,
  ]).flat();
  await expect(read('deep.eml', mail([...head, ...deep]))).rejects.toThrow(/is not a readable mail/);
});

test('a mail of very many parts is refused, and one of very many lines that look like parts is read', async () => {
  const line = '--b\n\nx\n';
  const parted = mail([...head, 'Content-Type: multipart/mixed; boundary=b', '', '']);
  await expect(read('parts.eml', parted + line.repeat(30_000))).rejects.toThrow(/has more than 20000 parts/);
  const { sections } = await read('lines.eml', mail([...head, '', '']) + line.repeat(30_000));
  expect(sections.flatMap(({ blocks }) => blocks).length).toBeGreaterThan(30_000);
});

test('empty cells of Rich Text keep their columns, and deleted text is left out', async () => {
  const rtf = String.raw`{\rtf1 \trowd\intbl Name\cell Phone\cell Berth\cell\row\trowd\intbl Ann\cell\cell 4\cell\row\pard kept{\deleted gone}\par}`;
  const { sections } = await read('cells.rtf', rtf);
  expect(sections.map(textOf)).toEqual(['Name | Phone | Berth\nAnn |  | 4\nkept']);
});

test('Rich Text has its headers above and its footers below, and notes follow their paragraph or row', async () => {
  const { title, sections } = await read(
    'margins.rtf',
    String.raw`{\rtf1{\stylesheet{\s1 heading 1;}{\s2 Title;}}
{\header\pard Harbour Office{\par}Page {\field{\*\fldinst PAGE}{\fldrslt 3}}\par}{\headerf Harbour Office\par}
{\footerl\pard\s1 Confidential\par}{\footerr 3\par}
\pard\s2 The Mole\par\pard\s1 Depth{\footnote\pard\s1 Measured in May.\par}\par
\pard Four{\*\atnid AH}{\*\atnauthor Ann}{\*\annotation\pard Really?\par} metres\par
\trowd\intbl East{\*\footnote At low tide.}\cell 5\cell\row\pard
{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt\pard Boxed\par}}}Last\par\pard\s1 Length\par\pard Ninety\par}`,
  );
  expect(title).toBe('The Mole');
  expect(sections.map(({ headings, blocks }) => [...headings, ...blocks.map(({ text }) => text)])).toEqual([
    [
      'Depth',
      'Harbour Office',
      'Measured in May.',
      'Four metres',
      'Really?',
      'East | 5',
      'At low tide.',
      'Last',
      'Boxed',
    ],
    ['Length', 'Ninety', 'Confidential'],
  ]);
});

test('text after a table of Rich Text is read also if nothing ends the table, and code pages have words', async () => {
  const text = String.raw`{\rtf1\mac {\trowd a\cell b\cell\row after\par}caf\'8e}`;
  const { sections } = await read('tail.rtf', Buffer.from(text, 'latin1'));
  expect(sections.flatMap(({ blocks }) => blocks.map((block) => block.text))).toEqual([
    'a | b',
    'after café',
  ]);
});

test('Rich Text gives paragraphs, headings and rows in the encoding of its fonts', async () => {
  const { title, sections } = await read(
    'a.rtf',
    String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}
{\stylesheet{\s0 Normal;}{\s1\b heading 1;}}{\*\generator Writer;}{\info{\author Nobody}}
\pard\s1 Lamps\par
\pard\s0 The caf\'e9 is {\b lit} \endash  at dusk\u8230?\par
{\f1\'cc\'e0\'ff\'ea} {\v hidden}{\pict 89504e47}end\par
\trowd\intbl Town\cell People\cell\row\intbl Wick\cell 7155\cell\row\pard
Last \{one\}.}`,
  );
  expect(title).toBe('Lamps');
  expect(sections.map(({ headings }) => headings)).toEqual([[]]);
  expect(sections[0]?.blocks.map(({ text }) => text)).toEqual([
    'The café is lit – at dusk…',
    'Маяк end',
    'Town | People',
    'Wick | 7155',
    'Last {one}.',
  ]);
});
