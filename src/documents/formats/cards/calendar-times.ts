import type { Component, Property } from './content-lines.js';

/** A date, or a time on a date. */
export interface CalendarTime {
  /** As people read it: "2026-03-01", "2026-03-01 10:00 Europe/Berlin". */
  readonly text: string;
  readonly isDate: boolean;
  /** Milliseconds since 1970, UTC. */
  readonly at: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** Changes of the offset that a zone of a calendar states; each event looks at all of them. */
const mostChanges = 200;

/** Reads the times of one calendar, whose zones are the system's or its own. */
export class CalendarClock {
  readonly #zones = new Map<string, OwnZone>();
  readonly #known = new Map<string, Intl.DateTimeFormat | undefined>();
  /** The zone of times without one. */
  readonly #usual: string | undefined;

  /** `usual`: the zone of times without one; undefined: UTC. */
  constructor(calendar: Component, usual: string | undefined) {
    this.#usual = usual;
    for (const zone of calendar.components) {
      const id = zone.properties.find(({ name }) => name === 'TZID')?.value.trim();
      if (zone.kind === 'VTIMEZONE' && id !== undefined) this.#zones.set(id, ownZone(zone));
    }
  }

  /** Reads a time; undefined if the value is none. */
  timeOf({ value, parameters }: Property): CalendarTime | undefined {
    const local = localTime(value);
    if (local === undefined) return undefined;
    const { date, time, isUtc, ms } = local;
    if (time === undefined) return { text: date, isDate: true, at: ms };
    const zone = isUtc ? 'UTC' : parameters.get('TZID')?.trim();
    const text = `${date} ${time}${zone === undefined ? '' : ` ${zone}`}`;
    return { text, isDate: false, at: isUtc ? ms : ms - this.#offset(zone ?? this.#usual, ms) };
  }

  /** Returns milliseconds that a zone is ahead of UTC at a local time. */
  #offset(zone: string | undefined, local: number): number {
    if (zone === undefined) return 0;
    // Some programs put the name of an organisation before that of the zone.
    const names = [zone, zone.split('/').slice(-2).join('/')];
    for (const name of names) {
      const format = this.#format(name);
      if (format === undefined) continue;
      const near = offsetAt(format, local);
      return offsetAt(format, local - near);
    }
    const own = this.#zones.get(zone);
    return own === undefined ? 0 : ownOffset(own, local);
  }

  #format(zone: string): Intl.DateTimeFormat | undefined {
    if (!this.#known.has(zone)) this.#known.set(zone, formatOf(zone));
    return this.#known.get(zone);
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined; // a name that the system does not know
  }
}

function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return offsetOf(name.replace(/^GMT/, '').replace(':', '')) ?? 0;
}

/** Reads "+0100" or "-033045". */
function offsetOf(text: string): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * minute + Number(seconds) * 1000);
}

interface LocalTime {
  readonly date: string;
  readonly time: string | undefined;
  readonly isUtc: boolean;
  /** The local time as if it were UTC. */
  readonly ms: number;
}

function localTime(value: string): LocalTime | undefined {
  const found = /^\s*(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?(Z)?)?/i.exec(value);
  if (found === null) return undefined;
  const [, year, month, date, hours, minutes, seconds, utc] = found;
  const ms = Date.parse(`${year}-${month}-${date}T${hours ?? '00'}:${minutes ?? '00'}:${seconds ?? '00'}Z`);
  if (!Number.isFinite(ms)) return undefined;
  const time = hours === undefined ? undefined : `${hours}:${minutes}`;
  return { date: `${year}-${month}-${date}`, time, isUtc: utc !== undefined, ms };
}

const textIn = ({ properties }: Component, name: string) =>
  properties.find((property) => property.name === name)?.value.trim() ?? '';

/** A zone that a calendar describes. */
interface OwnZone {
  readonly changes: readonly OffsetChange[];
  /** Before the first change. */
  readonly usual: number;
}

/** A change of a zone's offset, once or every year. */
interface OffsetChange {
  readonly offset: number;
  /** The local time of the first one. */
  readonly first: number;
  /** The last time of a yearly one; undefined for one that does not repeat. */
  readonly yearly: { nth: number; weekday: number; month: number; end: number } | undefined;
}

function ownZone({ components }: Component): OwnZone {
  const [first] = components;
  return {
    changes: components.slice(0, mostChanges).flatMap(changeOf),
    usual: (first && offsetOf(textIn(first, 'TZOFFSETFROM'))) ?? 0,
  };
}

function changeOf(part: Component): OffsetChange[] {
  const offset = offsetOf(textIn(part, 'TZOFFSETTO'));
  const first = localTime(textIn(part, 'DTSTART'))?.ms;
  if (offset === undefined || first === undefined) return [];
  const rule = ruleOf(textIn(part, 'RRULE'));
  const [, nth, weekday] = /^([+-]?\d)([A-Z]{2})$/.exec(rule.get('BYDAY') ?? '') ?? [];
  const month = Number(rule.get('BYMONTH')) - 1;
  const end = localTime(rule.get('UNTIL') ?? '')?.ms ?? Number.POSITIVE_INFINITY;
  const isYearly = weekday !== undefined && Number.isInteger(month);
  const yearly = isYearly ? { nth: Number(nth), weekday: weekdays.indexOf(weekday), month, end } : undefined;
  return [{ offset, first, yearly }];
}

/** Returns the offset that a zone described in the calendar has at a local time. */
function ownOffset({ changes, usual }: OwnZone, local: number): number {
  let best: { onset: number; offset: number } | undefined;
  for (const change of changes) {
    const onset = lastOnset(change, local);
    if (onset !== undefined && onset > (best?.onset ?? Number.NEGATIVE_INFINITY))
      best = { onset, offset: change.offset };
  }
  return best?.offset ?? usual;
}

/** Returns the last time before `local` at which a change happens. */
function lastOnset({ first, yearly }: OffsetChange, local: number): number | undefined {
  if (first > local) return undefined;
  if (yearly === undefined) return first;
  const { nth, weekday, month, end } = yearly;
  const year = new Date(Math.min(local, end)).getUTCFullYear();
  const onsets = [year, year - 1]
    .map((each) => nthWeekday(each, month, nth, weekday) + timeOfDay(first))
    .filter((onset) => onset >= first && onset <= local);
  return Math.max(first, ...onsets);
}

const timeOfDay = (ms: number) => ((ms % day) + day) % day;

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The nth weekday of a month; from its end if `nth` is negative. */
function nthWeekday(year: number, month: number, nth: number, weekday: number): number {
  const edge = new Date(nth > 0 ? Date.UTC(year, month, 1) : Date.UTC(year, month + 1, 0));
  const away = nth > 0 ? (weekday - edge.getUTCDay() + 7) % 7 : -((edge.getUTCDay() - weekday + 7) % 7);
  return edge.getTime() + (away + (nth > 0 ? nth - 1 : nth + 1) * 7) * day;
}

/** Returns the parts of a rule of repetition. */
export const ruleOf = (rule: string): Map<string, string> =>
  new Map(
    rule
      .toUpperCase()
      .split(';')
      .map((part): [string, string] => {
        const at = part.indexOf('=');
        return [part.slice(0, Math.max(at, 0)), part.slice(at + 1)];
      }),
  );

/** Returns milliseconds of a duration such as P1DT2H; undefined if it is none. */
export function durationOf(text: string): number | undefined {
  const pattern =
    /^\s*\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?\s*$/i;
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const [weeks, days, hours, minutes, seconds] = found.slice(1).map((digits) => Number(digits ?? 0));
  return (
    ((weeks ?? 0) * 7 + (days ?? 0)) * day +
    ((hours ?? 0) * 60 + (minutes ?? 0)) * minute +
    (seconds ?? 0) * 1000
  );
}

const units = new Map([
  ['DAILY', 'day'],
  ['WEEKLY', 'week'],
  ['MONTHLY', 'month'],
  ['YEARLY', 'year'],
]);
const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const places = new Map([
  ['1', 'first'],
  ['2', 'second'],
  ['3', 'third'],
  ['4', 'fourth'],
  ['-1', 'last'],
]);

/** Says how an event repeats; undefined for a rule that no sentence tells. */
export function repetitionOf(rrule: string): string | undefined {
  const rule = ruleOf(rrule.trim());
  const unit = units.get(rule.get('FREQ') ?? '');
  if (unit === undefined) return undefined;
  const interval = Number(rule.get('INTERVAL') ?? 1);
  const days = (rule.get('BYDAY') ?? '').split(',').flatMap((text) => {
    const [, nth = '', code = ''] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(text.trim()) ?? [];
    const name = dayNames[weekdays.indexOf(code)];
    const place = nth === '' ? '' : `${places.get(nth.replace('+', '')) ?? nth} `;
    return name === undefined ? [] : [`${place}${name}`];
  });
  const until = localTime(rule.get('UNTIL') ?? '')?.date;
  const count = rule.get('COUNT');
  return [
    interval > 1 ? `every ${interval} ${unit}s` : `every ${unit}`,
    days.length > 0 ? ` on ${days.join(', ')}` : '',
    until === undefined ? '' : ` until ${until}`,
    count === undefined ? '' : `, ${count} times`,
  ].join('');
}
