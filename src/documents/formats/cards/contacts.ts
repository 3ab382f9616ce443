import { type Block, type Document, type Section, UnreadableDocument } from '../../document.js';
import { Anchors } from '../anchors.js';
import { paragraphs } from '../text.js';
import { itemsOf } from './calendar.js';
import {
  type Component,
  type Property,
  partsOf,
  readComponents,
  textOf,
  unescaped,
} from './content-lines.js';

/** How a kind of property is shown. The kinds that are not here are left out, such as pictures and keys. */
interface Shown {
  readonly label: string;
  readonly join?: string;
  readonly separator?: ';' | ',';
}

const shown: ReadonlyMap<string, Shown> = new Map([
  ['NICKNAME', { label: 'Nickname', separator: ',', join: ', ' }],
  ['ORG', { label: 'Organization', separator: ';', join: ', ' }],
  ['TITLE', { label: 'Title' }],
  ['ROLE', { label: 'Role' }],
  ['TEL', { label: 'Phone' }],
  ['EMAIL', { label: 'E-mail' }],
  ['ADR', { label: 'Address', separator: ';', join: ', ' }],
  ['IMPP', { label: 'Message' }],
  ['URL', { label: 'Link' }],
  ['X-SOCIALPROFILE', { label: 'Profile' }],
  ['BDAY', { label: 'Birthday' }],
  ['ANNIVERSARY', { label: 'Anniversary' }],
  ['X-ANNIVERSARY', { label: 'Anniversary' }],
  ['X-ABDATE', { label: 'Date' }],
  ['RELATED', { label: 'Related' }],
  ['X-ABRELATEDNAMES', { label: 'Related' }],
  ['LANG', { label: 'Language' }],
  ['TZ', { label: 'Time zone' }],
  ['CATEGORIES', { label: 'Categories', separator: ',', join: ', ' }],
]);

/** Reads contacts: a section for each. @throws UnreadableDocument */
export function readContacts(text: string): Document {
  const cards = readComponents(text).filter(({ kind }) => kind === 'VCARD');
  if (cards.length === 0) throw new UnreadableDocument('has no contacts');
  const anchors = new Anchors();
  return { sections: cards.map((card) => sectionOf(card, anchors)) };
}

function sectionOf(card: Component, anchors: Anchors): Section {
  const title = nameOf(card);
  const labels = new Map(
    card.properties
      .filter(({ name, group }) => name === 'X-ABLABEL' && group !== '')
      .map(({ group, value }): [string, string] => [group, unescaped(value).replace(/^_\$!<|>!\$_$/g, '')]),
  );
  const items = card.properties.flatMap((property) => itemOf(property, labels));
  const notes = card.properties.filter(({ name }) => name === 'NOTE');
  const blocks = [...items, ...notes.flatMap(({ value }) => paragraphs(unescaped(value)))];
  return {
    ...(title !== undefined && { title }),
    headings: [],
    anchor: anchors.of(title ?? ''),
    // A contact without anything else is found by its name.
    blocks: blocks.length > 0 ? blocks : itemsOf([['Name', title]]),
  };
}

/** The name in the order in which it is said; else that of the organisation. */
function nameOf(card: Component): string | undefined {
  const full = textOf(card, 'FN');
  if (full !== undefined) return full.replace(/\s+/g, ' ');
  const value = card.properties.find(({ name }) => name === 'N')?.value ?? '';
  const [family, given, other, before, after] = partsOf(value, ';');
  const said = [before, given, other, family, after].filter((part) => part !== undefined && part !== '');
  return said.join(' ') || textOf(card, 'ORG')?.replace(/;+/g, ', ') || undefined;
}

/** Types that say nothing to people. */
const unsaid = new Set(['pref', 'internet', 'voice', 'other', 'quoted-printable', 'x-uid']);

function itemOf(property: Property, labels: ReadonlyMap<string, string>): Block[] {
  const kind = shown.get(property.name);
  if (kind === undefined) return [];
  const { label, separator, join = '' } = kind;
  const parts = separator === undefined ? [unescaped(property.value)] : partsOf(property.value, separator);
  const value = parts.filter((part) => part !== '').join(join);
  const own = labels.get(property.group);
  const types = (property.parameters.get('TYPE') ?? '').toLowerCase().split(',');
  const said = own ?? types.filter((type) => type !== '' && !unsaid.has(type)).join(', ');
  return itemsOf([[said === '' ? label : `${label} (${said})`, shownValue(property.name, value)]]);
}

/** Dates as 1985-04-12 or --04-12; addresses of links without their scheme. */
function shownValue(name: string, value: string): string {
  if (/^(?:BDAY|ANNIVERSARY|X-ANNIVERSARY|X-ABDATE)$/.test(name))
    return value.replace(
      /^(\d{4}|--)-?(\d\d)-?(\d\d)(?:T.*)?$/s,
      (_, year: string, month: string, date: string) =>
        year === '--' ? `--${month}-${date}` : `${year}-${month}-${date}`,
    );
  return name === 'TEL' || name === 'EMAIL' ? value.replace(/^(?:tel|mailto):/i, '') : value;
}
