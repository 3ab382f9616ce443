import { clientSlices } from '../../../base/waiting/next-slice.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { OwnCitation } from '../../interaction.js';
import { CodeSpans } from './code-spans.js';

/** Characters within the brackets of a mark: linear matching needs a bound. It is room for a hundred records. */
const longestList = 512;
const longestMark = longestList + 1;

const separators = ',;，、；';
const dashes = '\\-\\u2010-\\u2015\\u2212~';
const inside = `[\\d\\s${separators}${dashes}]`;

/** A range is a mark if it has at most this many records: each becomes a citation. */
const longestRange = 64;

/** Larger numbers are no marks but years, for example, unless there are as many records. */
const highestMissing = 999;

/** The tokens that decide about marks: a mark, a run of backticks, or a line feed. */
const found = new RegExp(
  `(?<mark>\\[${inside}{1,${longestList}}\\]|【${inside}{1,${longestList}}】)|(?<ticks>\`+)|\\n`,
  'g',
);
const item = `\\d{1,9}(?:\\s*[${dashes}]\\s*\\d{1,9})?`;
const wholeList = new RegExp(`^\\s*${item}(?:\\s*[${separators}]\\s*${item})*\\s*$`);
const itemOfList = new RegExp(`(\\d+)(?:\\s*([${dashes}])\\s*(\\d+))?`, 'g');

/** The characters of an unfinished mark. */
const unfinished = new RegExp(`^[[【]${inside}*$`);

/** Records of a mark, by number. A single one is a range of one. */
interface Range {
  readonly first: number;
  readonly last: number;
  readonly dash: string;
}

/** Returns the ranges that a mark names, or undefined if it is none. */
function rangesOf(bracketed: string, records: number): Range[] | undefined {
  const list = bracketed.slice(1, -1);
  if (!wholeList.test(list)) return undefined;
  const ranges = [...list.matchAll(itemOfList)].map(([, from, dash = '', to = from]) => {
    const ends = [Number(from), Number(to)];
    return { first: Math.min(...ends), last: Math.max(...ends), dash };
  });
  const highest = Math.max(highestMissing, records);
  if (ranges.every(({ first }) => first > highest)) return undefined;
  const isMark = ranges.every(({ first, last }) => first === last || last - first < longestRange);
  return isMark ? ranges : undefined;
}

interface Mark {
  /** Where it begins. */
  readonly index: number;
  /** With its brackets. */
  readonly whole: string;
  readonly ranges: readonly Range[];
}

/** Tokens of a text that are looked at between two pauses: some tenths of a millisecond. */
const tokensPerStep = 512;

/**
 * Yields the marks of a text, in order, and undefined where a long text should pause. `code`: follows the text; there are
 * none in code.
 */
function* marksOf(text: string, records: number, code: CodeSpans): Generator<Mark | undefined> {
  let told = 0;
  let tokens = 0;
  for (const { 0: whole, index, groups } of text.matchAll(found)) {
    if (++tokens % tokensPerStep === 0) yield undefined;
    if (index > told) code.text();
    told = index + whole.length;
    if (groups?.ticks !== undefined) code.backticks(whole.length);
    else if (groups?.mark === undefined) code.lineFeed();
    else {
      code.text();
      const ranges = code.inside ? undefined : rangesOf(whole, records);
      if (ranges !== undefined) yield { index, whole, ranges };
    }
  }
  if (text.length > told) code.text();
}

/**
 * Returns the text that replaces a removed mark: usually nothing, but empty brackets if the text around the mark would then
 * form a new mark (`[7[9]]`) or one longer run of backticks. `before`: the text before the mark; only its last `longestMark`
 * characters are read. `next`: the character after the mark, if known.
 */
function placeholder(before: string, next = ''): string {
  const end = before.slice(-longestMark);
  const opening = Math.max(end.lastIndexOf('['), end.lastIndexOf('【'), 0);
  const joins = next === '`' && end.endsWith('`');
  return joins || unfinished.test(end.slice(opening)) ? '[]' : '';
}

/** Returns where a text ends without the blanks before `end`. */
function blanksBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--;
  return at;
}

const onlyBlanks = /^[ \t]*$/;

/** Returns the start of the part of a text that may become a mark with the text that follows, its blanks included. */
function heldFrom(text: string): number {
  const opening = Math.max(text.lastIndexOf('['), text.lastIndexOf('【'));
  const isOpen = opening >= 0 && text.length - opening <= longestMark && unfinished.test(text.slice(opening));
  return blanksBefore(text, isOpen ? opening : text.length);
}

/**
 * Finds marks such as `[1]`, `[1, 3]`, `[2-4]` and `【1】` in a reply that arrives in pieces. Marks of records become
 * citations; records that do not exist are removed from them and counted, and so are the blanks before a mark without any
 * other. Code in backticks has no marks.
 */
export class MarkFilter {
  readonly #records: readonly Knowledge[];
  readonly citations: OwnCitation[] = [];
  readonly #code = new CodeSpans();
  #held = '';
  /** Whether the held text consists of blanks, or is empty. */
  #heldBlanks = true;
  /** The end of the reply so far, as long as a mark may be. */
  #tail = '';
  /** Length of the reply so far, in UTF-16 code units. */
  #length = 0;
  #removed = 0;

  /** `records`: the first has the number 1. */
  constructor(records: readonly Knowledge[]) {
    this.#records = records;
  }

  /** Number of records that marks named and that do not exist. */
  get removed(): number {
    return this.#removed;
  }

  /** Returns the text that can be sent. The rest is held until it is known whether it is a mark. */
  push(piece: string): string {
    // A reply may consist of blanks: they are looked at once, not again for each piece.
    if (this.#heldBlanks && onlyBlanks.test(piece)) {
      this.#held += piece;
      return '';
    }
    const text = this.#held + piece;
    const end = heldFrom(text);
    this.#held = text.slice(end);
    this.#heldBlanks = onlyBlanks.test(this.#held);
    return this.#pass(text.slice(0, end));
  }

  /** Returns the rest. */
  finish(): string {
    const text = this.#held;
    this.#held = '';
    this.#heldBlanks = true;
    return this.#pass(text);
  }

  #pass(text: string): string {
    let passed = '';
    let at = 0;
    for (const mark of marksOf(text, this.#records.length, this.#code)) {
      if (mark === undefined) continue;
      const { index, whole, ranges } = mark;
      const begin = Math.max(at, blanksBefore(text, index));
      passed += text.slice(at, begin);
      const kept = this.#cite(text.slice(begin, index), whole, ranges, this.#length + passed.length);
      passed += kept || placeholder(this.#tail + passed);
      at = index + whole.length;
    }
    passed += text.slice(at);
    this.#length += passed.length;
    this.#tail = (this.#tail + passed).slice(-longestMark);
    return passed;
  }

  /** Returns a mark as it stays in the reply, with its blanks. `position`: where they begin. */
  #cite(blanks: string, whole: string, ranges: readonly Range[], position: number): string {
    const known = ranges
      .map(({ first, last, dash }) => ({
        first: Math.max(first, 1),
        last: Math.min(last, this.#records.length),
        dash,
      }))
      .filter(({ first, last }) => first <= last);
    const missing = sizeOf(ranges) - sizeOf(known);
    this.#removed += missing;
    if (known.length === 0) return '';
    const kept = missing === 0 ? whole : `${whole[0]}${known.map(rangeText).join(', ')}${whole.at(-1)}`;
    const begin = position + blanks.length;
    for (const number of new Set(known.flatMap(numbersOf))) this.#add(number, begin, begin + kept.length);
    return blanks + kept;
  }

  #add(number: number, reply_start: number, reply_end: number): void {
    const { storage, id, text, score, metadata } = this.#records[number - 1] as Knowledge;
    const place = { start: 0, end: text.length, reply_start, reply_end };
    this.citations.push({ kind: 'mark', storage, id, ...place, score, metadata });
  }
}

/** What a mark in an outside text becomes: its text in parentheses, or nothing, not even the blanks before it. */
export type Instead = 'parentheses' | 'nothing';

/**
 * Returns a text without marks, for a prompt: a reply that repeats it would cite the record that has the number there. Code
 * keeps its brackets. Takes about a microsecond per mark: for texts whose length nothing bounds, see plainInSlices().
 */
export function withoutMarks(text: string, records: number, instead: Instead): string {
  const steps = removal(text, records, instead);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Like withoutMarks(), in slices of the client. */
export async function plainInSlices(text: string, records: number, instead: Instead): Promise<string> {
  const steps = removal(text, records, instead);
  for (const slices = clientSlices(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slices.over) await slices.next();
  }
}

/** Yields where a long text should pause. */
function* removal(text: string, records: number, instead: Instead): Generator<void, string> {
  let plain = '';
  let parts: string[] = [];
  let tail = '';
  let at = 0;
  const add = (part: string) => {
    parts.push(part);
    tail = (tail + part).slice(-longestMark);
  };
  for (const mark of marksOf(text, records, new CodeSpans())) {
    if (mark === undefined) {
      // Joining millions of parts at the end would take as long as finding them.
      plain += parts.join('');
      parts = [];
      yield;
      continue;
    }
    const { index, whole } = mark;
    const from = at;
    at = index + whole.length;
    add(text.slice(from, instead === 'nothing' ? Math.max(from, blanksBefore(text, index)) : index));
    add(instead === 'nothing' ? placeholder(tail, text[at]) : `(${whole.slice(1, -1)})`);
  }
  add(text.slice(at));
  return plain + parts.join('');
}

function sizeOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

function rangeText({ first, last, dash }: Range): string {
  return first === last ? `${first}` : `${first}${dash}${last}`;
}

function numbersOf({ first, last }: Range): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
