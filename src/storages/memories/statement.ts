import { createHash } from 'node:crypto';
import type { MemoryKind, MemoryScope } from '../../protocol/memories.js';
import type { StoredWireRecord, WireRecord } from '../../protocol/records.js';

/** Something to remember. */
export interface Statement {
  readonly text: string;
  readonly kind: MemoryKind;
  readonly speaker: string;
  readonly turn: string;
  /** What it is about, normalised; "": nothing in particular. */
  readonly subject: string;
  /** 0 to 1. */
  readonly importance: number;
}

/** Metadata of a remembered statement. Times are in ms since 1970. */
export interface StatementMetadata {
  /** When it was said last. */
  time: number;
  /** When it was said first. */
  since: number;
  /** When a later statement about its subject succeeded it. */
  until?: number;
  kind: string;
  speaker: string;
  turn: string;
  scope: string;
  subject: string;
  importance: number;
  /** How often it was said. */
  count: number;
}

export interface StatementRecord extends WireRecord {
  readonly metadata: StatementMetadata & Record<string, unknown>;
}

/** Two texts with the same normal form are one statement: compatibility forms, case, blanks and final marks do not count. */
export function normalText(text: string): string {
  const folded = compatible(text).toLowerCase().replace(/\s+/gu, ' ').trim();
  let end = folded.length;
  // A pattern that ends with $ would look at each run of marks once for each of its characters.
  while (end > 0 && finalMark.test(folded.charAt(end - 1))) end--;
  return folded.slice(0, end) || folded;
}

const finalMark = /[\s.!?…。！？]/u;

/** Characters normalised at once: marks above and below one letter are sorted in time that grows with their square. */
const pieceLength = 1024;

/** Returns the text in compatibility form NFKC. Pieces begin with a blank if there is one. */
function compatible(text: string): string {
  let form = '';
  for (let at = 0; at < text.length; ) {
    const limit = at + pieceLength;
    const blank = limit < text.length ? lastBlank(text, at, limit) : -1;
    const splits = /[\uDC00-\uDFFF]/.test(text.charAt(limit));
    const end = blank > at ? blank : limit - (splits ? 1 : 0);
    form += text.slice(at, end).normalize('NFKC');
    at = end;
  }
  return form;
}

/** Returns the position of the last blank of a range, or -1. */
function lastBlank(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (/\s/.test(text.charAt(at))) return at;
  return -1;
}

type Told = Pick<Statement, 'text' | 'kind' | 'speaker' | 'subject'>;

/** Returns the id of a statement: the same for the same text, kind, speaker and subject. */
export function statementId({ text, kind, speaker, subject }: Told): string {
  const parts = [kind, speaker, normalText(text), ...(subject === '' ? [] : [subject])];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `m-${digest.slice(0, 24)}`;
}

/** Whether two subjects may be one: the same, or one of them is none in particular. */
export const mayShareSubject = (one: string, other: string): boolean =>
  one === other || one === '' || other === '';

const word = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

const negations = new Set(
  [
    ['not', 'no', 'never', 'none', 'without', 'cannot', 'nicht', 'kein', 'keine', 'nie', 'ohne'],
    ['ne', 'pas', 'jamais', 'sans', 'nunca', 'sin', 'non', 'mai', 'senza', 'não', 'sem', 'niet', 'geen'],
    ['nooit', 'inte', 'ikke', 'aldrig', 'aldri', 'не', 'нет', 'никогда', 'nie', 'nigdy', 'bez'],
    ['nem', 'sem', 'ei', 'en', 'nu', 'niciodată', 'není', 'nejsem', 'nije', 'nisam', 'nikdy', 'ekki'],
    ['δεν', 'μην', 'ποτέ', 'değil', 'asla', 'tidak', 'bukan', 'không', 'ні', 'ніколи', 'hindi'],
  ].flat(),
);

const isTelling = (each: string) =>
  /[\p{N}\p{Lu}\p{Lo}]/u.test(each) || negations.has(each.toLowerCase()) || /n['’]t$/u.test(each);

/**
 * Whether two texts that are near to each other may be one statement: one has all words of the other in their order, and the same words
 * with a digit or a capital and negations. Embeddings do not tell "left" from "right", or who does what to whom.
 */
export function mayBeSame(one: string, other: string): boolean {
  const [fewer = [], more = []] = [one, other]
    .map((text): string[] => compatible(text).match(word) ?? [])
    .sort((a, b) => a.length - b.length);
  const telling = (words: readonly string[]) => words.filter(isTelling).join(' ').toLowerCase();
  if (telling(fewer) !== telling(more)) return false;
  let at = 0;
  for (const each of more) if (each.toLowerCase() === fewer[at]?.toLowerCase()) at++;
  return at === fewer.length;
}

/** Returns the record of a statement that the memory does not have yet. */
export function newRecord(statement: Statement, scope: MemoryScope, time: number): StatementRecord {
  const { text, kind, speaker, turn, subject, importance } = statement;
  const metadata = { time, since: time, kind, speaker, turn, scope, subject, importance, count: 1 };
  return { id: statementId(statement), text, metadata };
}

/** Returns a record after its statement was made again: with the later text, time and turn. */
export function mergedRecord(
  { id, metadata }: StatementRecord,
  { text, turn, subject, importance }: Statement,
  time: number,
): StatementRecord {
  const { until: _, ...earlier } = metadata;
  return {
    id,
    text,
    metadata: {
      ...earlier,
      time,
      turn,
      subject: subject || earlier.subject,
      importance: Math.max(importance, earlier.importance),
      count: earlier.count + 1,
    },
  };
}

const timeFields = ['time', 'since', 'until'];

/** Returns a stored record with its times as numbers. */
export function statementRecord({ id, text, metadata = {} }: StoredWireRecord): StatementRecord {
  const numbers = Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      timeFields.includes(name) && typeof value === 'string' ? Date.parse(value) : value,
    ]),
  );
  return { id, text, metadata: numbers as StatementRecord['metadata'] };
}
