import { type Block, type Document, type Section, UnreadableDocument } from '../document.js';
import { parseLoosely } from '../tables/exact-json.js';
import { namedText, textOfValue } from '../tables/flat-text.js';
import { readText } from './text.js';

/** Reads JSON, also with comments and trailing commas: the objects of a list are sections, other values lines with their names. */
export function readJson(text: string): Document {
  const value = valueIn(text) ?? objectsOfLines(text);
  if (value === undefined) return readText(text);
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return { sections: sectionsOf(value) };
  return { sections: [{ headings: [], anchor: '', blocks: blocksOf(value) }] };
}

/** Parses JSON; undefined if it is none. */
function valueIn(text: string): unknown {
  try {
    return parseLoosely(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableDocument('is nested too deeply', { cause: error });
    throw error;
  }
}

/** Objects of which each has a line of its own; undefined if a line is none. */
function objectsOfLines(text: string): unknown[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || !lines.every((line) => line.trimStart().startsWith('{'))) return undefined;
  const objects = lines.map((line) => valueIn(line));
  return objects.every((value) => value !== undefined) ? objects : undefined;
}

function* sectionsOf(items: readonly unknown[]): Generator<Section> {
  for (const [at, item] of items.entries())
    yield { headings: [], anchor: `item=${at + 1}`, blocks: blocksOf(item) };
}

/** Blocks of the values of an object, each with its name; nested values are lines. */
function blocksOf(value: unknown): Block[] {
  const texts =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isTurn(value)
      ? Object.entries(value).map(([name, item]) => namedText(name, item))
      : [textOfValue(value)];
  return texts.filter((text) => text !== '').map((text) => ({ kind: 'item', text }));
}

/** A message of a conversation stays whole. */
const isTurn = (value: object) =>
  'role' in value || 'author' in value || 'speaker' in value || 'from' in value;
