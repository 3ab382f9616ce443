import { type Block, type Document, type Section, UnreadableDocument } from '../../document.js';
import { Anchors } from '../anchors.js';
import { paragraphs, readText } from '../text.js';
import { CalendarClock, type CalendarTime, durationOf, repetitionOf } from './calendar-times.js';
import {
  type Component,
  type Property,
  partsOf,
  readComponents,
  textOf,
  unescaped,
} from './content-lines.js';

/** Kinds of components that people see. */
const shown = new Set(['VEVENT', 'VTODO', 'VJOURNAL']);

/** People that one event names. */
const mostPeople = 200;

/** Reads a calendar: a section for each event, task and entry. @throws UnreadableDocument */
export async function readCalendar(text: string): Promise<Document> {
  const calendars = readComponents(text).filter(({ kind }) => kind === 'VCALENDAR');
  if (calendars.length === 0) throw new UnreadableDocument('is not a calendar');
  const anchors = new Anchors();
  const sections: Section[] = [];
  for (const calendar of calendars) {
    const clock = new CalendarClock(calendar, textOf(calendar, 'X-WR-TIMEZONE'));
    const name = textOf(calendar, 'X-WR-CALNAME') ?? textOf(calendar, 'NAME');
    for (const event of calendar.components)
      if (shown.has(event.kind)) sections.push(await sectionOf(event, clock, name, anchors));
  }
  return { sections };
}

async function sectionOf(
  event: Component,
  clock: CalendarClock,
  calendar: string | undefined,
  anchors: Anchors,
): Promise<Section> {
  const title = textOf(event, 'SUMMARY');
  const time = (name: string) => {
    const property = event.properties.find((each) => each.name === name);
    return property === undefined ? undefined : clock.timeOf(property);
  };
  const start = time('DTSTART');
  const end = time('DTEND') ?? time('DUE');
  const duration = durationOf(textOf(event, 'DURATION') ?? '');
  const ends = end?.at ?? (start !== undefined && duration !== undefined ? start.at + duration : undefined);
  const blocks = [
    ...itemsOf([
      [
        event.kind === 'VTODO' ? 'Begins' : 'When',
        start && periodOf(start, event.kind === 'VTODO' ? undefined : end, duration),
      ],
      ['Due', event.kind === 'VTODO' ? end?.text : undefined],
      ['Repeats', repetitionOf(textOf(event, 'RRULE') ?? '')],
      ['Location', textOf(event, 'LOCATION')],
      ['Status', statusOf(event)],
      ['Organizer', peopleOf(event, 'ORGANIZER')],
      ['Attendees', peopleOf(event, 'ATTENDEE')],
      ['Categories', listOf(event, 'CATEGORIES')],
      ['Link', textOf(event, 'URL')],
      ['Calendar', calendar],
    ]),
    ...(await proseOf(textOf(event, 'DESCRIPTION'))),
    ...(await proseOf(textOf(event, 'COMMENT'))),
  ];
  return {
    ...(title !== undefined && { title }),
    headings: [],
    anchor: anchors.of(textOf(event, 'UID') ?? title ?? ''),
    metadata: {
      ...(start !== undefined && { starts: start.at }),
      ...(ends !== undefined && { ends }),
    },
    // An event without anything else is found by its title.
    blocks: blocks.length > 0 ? blocks : itemsOf([['Summary', title]]),
  };
}

/** Returns a line for each value that is not undefined. */
export const itemsOf = (values: readonly (readonly [string, string | undefined])[]): Block[] =>
  values
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => ({ kind: 'item', text: `${name}: ${value?.replace(/\s+/g, ' ')}` }));

const dayMs = 24 * 60 * 60 * 1000;

/** Says when an event is. The end of whole days is the day after them. */
function periodOf(start: CalendarTime, end: CalendarTime | undefined, duration: number | undefined): string {
  if (start.isDate) {
    const last = (end?.at ?? start.at + (duration ?? dayMs)) - dayMs;
    return last > start.at ? `${start.text} to ${new Date(last).toISOString().slice(0, 10)}` : start.text;
  }
  if (end === undefined && duration !== undefined)
    return `${start.text} for ${Math.round(duration / 60_000)} minutes`;
  if (end === undefined || end.at === start.at) return start.text;
  const [date = '', time = '', zone = ''] = splitTime(start);
  const [endDate = '', endTime = '', endZone = ''] = splitTime(end);
  const last = endDate === date ? endTime : `${endDate} ${endTime}`;
  if (zone === endZone) return `${date} ${time} to ${last}${zone === '' ? '' : ` ${zone}`}`;
  return `${start.text} to ${end.text}`;
}

function splitTime({ text }: CalendarTime): string[] {
  const [date = '', time = '', ...zone] = text.split(' ');
  return [date, time, zone.join(' ')];
}

/** States that say more than that the event is. */
function statusOf(event: Component): string | undefined {
  const status = textOf(event, 'STATUS')?.toLowerCase();
  return status === 'confirmed' ? undefined : status;
}

function listOf({ properties }: Component, name: string): string {
  return properties
    .filter((property) => property.name === name)
    .flatMap(({ value }) => partsOf(value, ','))
    .join(', ');
}

/** Names people by name, or by address. */
function peopleOf({ properties }: Component, name: string): string {
  const people = properties.filter((property) => property.name === name);
  const more = people.length > mostPeople ? `, and ${people.length - mostPeople} others` : '';
  return `${people.slice(0, mostPeople).map(personOf).join(', ')}${more}`;
}

function personOf({ parameters, value }: Property): string {
  const address = unescaped(value).replace(/^mailto:/i, '');
  const name = parameters.get('CN') ?? '';
  return name === '' || name === address ? address : `${name} <${address}>`;
}

/** Some programs write pages as descriptions. */
async function proseOf(text: string | undefined): Promise<Block[]> {
  if (text === undefined) return [];
  if (!/<(?:br|p|div|span|a|ul|b|html)\b[^<>]{0,500}>/i.test(text)) return paragraphs(text);
  const { sections } = (await import('../html/html.js')).readHtml(text);
  const blocks: Block[] = [];
  for await (const section of sections) blocks.push(...section.blocks);
  return blocks.length > 0
    ? blocks
    : [...(readText(text).sections as Iterable<Section>)].flatMap((each) => each.blocks);
}
