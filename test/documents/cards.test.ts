/** Calendars and contacts. */
import { expect, test } from 'vitest';
import { read, texts } from './read-file.js';

const lines = (...all: string[]) => all.join('\r\n');

const berlin = lines(
  'BEGIN:VTIMEZONE',
  'TZID:W. Europe Standard Time',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
);

const calendar = (...events: string[]) =>
  lines('BEGIN:VCALENDAR', 'VERSION:2.0', berlin, ...events, 'END:VCALENDAR');
const event = (...properties: string[]) => lines('BEGIN:VEVENT', ...properties, 'END:VEVENT');
const iso = (ms: unknown) => new Date(Number(ms)).toISOString();

test('a calendar gives its events with their times, people and texts', async () => {
  const { sections, problems } = await read(
    'harbour.ics',
    calendar(
      'X-WR-CALNAME:Harbour',
      event(
        'UID:7@harbour',
        'SUMMARY:Dredging\\, east ',
        ' basin',
        'DTSTART;TZID="Europe/Berlin":20260701T093000',
        'DTEND;TZID="Europe/Berlin":20260701T110000',
        'RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20261231T000000Z',
        'LOCATION:Pier 4\\; gate B',
        'STATUS:TENTATIVE',
        'ORGANIZER;CN="Holm, Ann":mailto:ann@harbour.example',
        'ATTENDEE;ROLE=REQ-PARTICIPANT;CN=Bo:mailto:bo@harbour.example',
        'ATTENDEE:mailto:cy@harbour.example',
        'CATEGORIES:works,noise',
        'DESCRIPTION:Bring boots.\\n\\nThe crane',
        '\t is out.',
        'BEGIN:VALARM',
        'DESCRIPTION:Reminder',
        'END:VALARM',
      ),
    ),
  );
  expect(problems).toEqual([]);
  const [{ title, anchor, metadata = {}, blocks } = {} as never] = sections;
  expect([title, anchor, iso(metadata.starts), iso(metadata.ends)]).toEqual([
    'Dredging, east basin',
    '7harbour',
    '2026-07-01T07:30:00.000Z',
    '2026-07-01T09:00:00.000Z',
  ]);
  expect(blocks.map(({ text }) => text)).toEqual([
    'When: 2026-07-01 09:30 to 11:00 Europe/Berlin',
    'Repeats: every 2 weeks on Monday, Wednesday until 2026-12-31',
    'Location: Pier 4; gate B',
    'Status: tentative',
    'Organizer: Holm, Ann <ann@harbour.example>',
    'Attendees: Bo <bo@harbour.example>, cy@harbour.example',
    'Categories: works, noise',
    'Calendar: Harbour',
    'Bring boots.',
    'The crane is out.',
  ]);
});

test.each([
  ['DTSTART:20260701T093000Z', '2026-07-01T09:30:00.000Z', 'When: 2026-07-01 09:30 UTC'],
  [
    'DTSTART;TZID=W. Europe Standard Time:20260328T120000',
    '2026-03-28T11:00:00.000Z',
    'When: 2026-03-28 12:00 W. Europe Standard Time',
  ],
  [
    'DTSTART;TZID=W. Europe Standard Time:20260329T120000',
    '2026-03-29T10:00:00.000Z',
    'When: 2026-03-29 12:00 W. Europe Standard Time',
  ],
  [
    'DTSTART;TZID=W. Europe Standard Time:20261025T120000',
    '2026-10-25T11:00:00.000Z',
    'When: 2026-10-25 12:00 W. Europe Standard Time',
  ],
  [
    'DTSTART;TZID=/mozilla.org/20050126_1/America/New_York:20260115T080000',
    '2026-01-15T13:00:00.000Z',
    undefined,
  ],
  ['DTSTART;VALUE=DATE:20260403', '2026-04-03T00:00:00.000Z', 'When: 2026-04-03'],
  [
    'DTSTART;VALUE=DATE:20260403\r\nDTEND;VALUE=DATE:20260404',
    '2026-04-03T00:00:00.000Z',
    'When: 2026-04-03',
  ],
  [
    'DTSTART;VALUE=DATE:20260403\r\nDTEND;VALUE=DATE:20260406',
    '2026-04-03T00:00:00.000Z',
    'When: 2026-04-03 to 2026-04-05',
  ],
  [
    'DTSTART:20260403T230000Z\r\nDTEND:20260404T010000Z',
    '2026-04-03T23:00:00.000Z',
    'When: 2026-04-03 23:00 to 2026-04-04 01:00 UTC',
  ],
  [
    'DTSTART:20260403T100000Z\r\nDURATION:PT1H30M',
    '2026-04-03T10:00:00.000Z',
    'When: 2026-04-03 10:00 UTC for 90 minutes',
  ],
])('%s begins at %s', async (property, starts, text) => {
  const { sections } = await read('time.ics', calendar(event('SUMMARY:x', property)));
  expect(iso(sections[0]?.metadata?.starts)).toBe(starts);
  if (text !== undefined) expect(texts({ sections })).toEqual([text]);
});

test('tasks, pages as descriptions, and what is no time', async () => {
  const { sections } = await read(
    'tasks.ics',
    calendar(
      lines('BEGIN:VTODO', 'SUMMARY:Paint', 'DUE;VALUE=DATE:20260510', 'STATUS:NEEDS-ACTION', 'END:VTODO'),
      event(
        'SUMMARY:Call',
        'DTSTART:soon',
        'RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=3',
        'DESCRIPTION:<p>At the <b>pier</b></p>',
      ),
    ),
  );
  expect(
    sections.map(({ title, blocks, metadata }) => [title, metadata, ...blocks.map(({ text }) => text)]),
  ).toEqual([
    ['Paint', { ends: Date.UTC(2026, 4, 10) }, 'Due: 2026-05-10', 'Status: needs-action'],
    ['Call', {}, 'Repeats: every month on last Friday, 3 times', 'At the pier'],
  ]);
  await expect(read('none.ics', 'just words')).rejects.toThrow(/is not a calendar/);
});

test('contacts have their names, numbers, addresses and notes', async () => {
  const { sections } = await read(
    'people.vcf',
    lines(
      'BEGIN:VCARD',
      'VERSION:3.0',
      'N:Holm;Ann;;Dr.;',
      'FN:Dr. Ann Holm',
      'ORG:Harbour Office;Dredging',
      'TEL;TYPE=WORK,VOICE;TYPE=pref:+47 551 290',
      'item1.EMAIL;TYPE=INTERNET:ann@harbour.example',
      'item1.X-ABLabel:_$!<Boat>!$_',
      'ADR;TYPE=HOME:;;Pier 4\\, house B;Bergen;;5003;Norway',
      'BDAY:19850412',
      'PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ',
      ' AAAQABAAD',
      'NOTE:Sails.\\n\\nHas the key.',
      'END:VCARD',
      'BEGIN:VCARD',
      'VERSION:2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=BCrgen',
      'TEL;HOME;CELL:0170 1',
      'NOTE;ENCODING=QUOTED-PRINTABLE:one =',
      'two=0D=0Athree',
      'END:VCARD',
      'begin:vcard',
      'version:4.0',
      'org:Lamps Ltd',
      'tel;value=uri:tel:+1-555',
      'bday:--0412',
      'end:vcard',
    ),
  );
  expect(
    sections.map(({ title, anchor, blocks }) => [title, anchor, ...blocks.map(({ text }) => text)]),
  ).toEqual([
    [
      'Dr. Ann Holm',
      'dr-ann-holm',
      'Organization: Harbour Office, Dredging',
      'Phone (work): +47 551 290',
      'E-mail (Boat): ann@harbour.example',
      'Address (home): Pier 4, house B, Bergen, 5003, Norway',
      'Birthday: 1985-04-12',
      'Sails.',
      'Has the key.',
    ],
    ['Jürgen Müller', 'jürgen-müller', 'Phone (home, cell): 0170 1', 'one two\nthree'],
    ['Lamps Ltd', 'lamps-ltd', 'Organization: Lamps Ltd', 'Phone: +1-555', 'Birthday: --04-12'],
  ]);
  await expect(read('none.vcf', 'just words')).rejects.toThrow(/has no contacts/);
});

test('a contact with only a name, and an event with only a title, are found by it', async () => {
  const contacts = await read('names.vcf', lines('BEGIN:VCARD', 'FN:Ann Holm', 'END:VCARD'));
  expect(texts(contacts)).toEqual(['Name: Ann Holm']);
  const events = await read('titles.ics', calendar(event('SUMMARY:Launch')));
  expect(texts(events)).toEqual(['Summary: Launch']);
  const nobody = await read('nobody.vcf', lines('BEGIN:VCARD', 'PHOTO:x', 'END:VCARD'));
  expect(texts(nobody)).toEqual([]);
});

test('an invitation in a mail is read, with its time', async () => {
  const mail = lines(
    'From: ann@harbour.example',
    'Subject: Invitation',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'See you.',
    '--b',
    'Content-Type: text/calendar; method=REQUEST',
    'Content-Disposition: attachment',
    '',
    calendar(event('SUMMARY:Launch', 'DTSTART:20260701T093000Z')),
    '--b--',
  );
  const { sections } = await read('invitation.eml', mail);
  expect(sections.at(-1)).toMatchObject({
    headings: ['text.ics', 'Launch'],
    metadata: { starts: Date.UTC(2026, 6, 1, 9, 30) },
  });
});

test('lines of any shape end, and leave the others', async () => {
  const hostile = [
    `ATTENDEE${';CN="a'.repeat(1000)}:x`,
    `X${';"'.repeat(1900)}:x`,
    'A'.repeat(1_000_000),
    `N:${';'.repeat(1_000_000)}`,
    `N:${'\\'.repeat(1_000_001)}`,
    `DESCRIPTION:${'<p'.repeat(1_000_000)}`,
    `X;ENCODING=QUOTED-PRINTABLE:${'=\r\n'.repeat(100_000)}`,
  ];
  for (const line of hostile) {
    const { sections } = await read('hostile.vcf', lines('BEGIN:VCARD', 'FN:x', 'TEL:1', line, 'END:VCARD'));
    expect(texts({ sections })).toContain('Phone: 1');
  }
  const events = hostile.map((line) => event('SUMMARY:x', line));
  const { sections } = await read('hostile.ics', calendar(...events, 'BEGIN:VEVENT\r\n'.repeat(100_000)));
  expect(sections.length).toBeGreaterThanOrEqual(hostile.length - 1);
});

test('a zone that states more changes than any has is read as far as its first ones', async () => {
  const change = (year: number, offset: string) =>
    lines('BEGIN:STANDARD', `DTSTART:${year}0101T000000`, `TZOFFSETTO:${offset}`, 'END:STANDARD');
  const changes = [
    change(2000, '+0200'),
    ...Array.from({ length: 20_000 }, () => change(1990, '+0300')),
    change(2020, '+0900'),
  ];
  const zone = lines('BEGIN:VTIMEZONE', 'TZID:Odd', ...changes, 'END:VTIMEZONE');
  const events = Array.from({ length: 2000 }, () => event('SUMMARY:x', 'DTSTART;TZID=Odd:20260101T100000'));
  const { sections } = await read('zone.ics', calendar(zone, ...events));
  expect(new Set(sections.map(({ metadata }) => iso(metadata?.starts)))).toEqual(
    new Set(['2026-01-01T08:00:00.000Z']),
  );
});

test('what is nested beyond any form is left out, and the rest is read', async () => {
  const nested = ['BEGIN:X', 'NOTE:deep'].join('\r\n');
  const { sections } = await read(
    'nested.vcf',
    lines(
      ...Array.from({ length: 1000 }, () => nested),
      ...Array.from({ length: 1000 }, () => 'END:X'),
      ...['BEGIN:VCARD', 'FN:Ann', 'TEL:1', 'END:VCARD'],
    ),
  );
  expect(sections.map(({ title }) => title)).toEqual(['Ann']);
  expect(JSON.stringify(sections)).not.toContain('deep');
});
