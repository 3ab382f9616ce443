import type { FieldDefinition } from '../../lib/internal.js';
import { wellFormed } from '../base/schema/well-formed.js';

type FieldType = FieldDefinition['type'];

/** A default as written in a config's JSON. */
export type WrittenDefault = number | string | boolean | string[];

/** Descriptions of valid defaults, by type. */
export const expectedDefault: Readonly<Record<FieldType, string>> = {
  int: 'an integer of 64 bits (one beyond 2^53 between quotes, which keep it exact)',
  float: 'a number',
  string: 'a string',
  bool: 'true or false',
  'set<string>': 'an array of strings',
};

/** Pattern of a default, by format. The addon checks that the date exists. */
export const isoPatterns = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/,
};

const largest = 2n ** 63n;
export const integerText = /^-?\d{1,19}$/;
export const numberText = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Returns the value of a default in its field's type: the default itself, or the same value in another form ("5" for an
 * int, 5 for a string). Nothing is rounded or guessed. Returns undefined if there is no such value.
 */
export function coerceDefault(value: WrittenDefault, type: FieldType): WrittenDefault | bigint | undefined {
  switch (type) {
    case 'int':
      return typeof value === 'string' ? integerOf(value) : Number.isSafeInteger(value) ? value : undefined;
    case 'float':
      return typeof value === 'string' ? numberOf(value) : typeof value === 'number' ? value : undefined;
    case 'string':
      return Array.isArray(value) ? undefined : textOf(String(value));
    case 'bool':
      return booleanOf(value);
    case 'set<string>': {
      const elements = typeof value === 'string' ? [value] : value;
      return Array.isArray(elements) && elements.every(wellFormed) ? elements : undefined;
    }
  }
}

function integerOf(text: string): number | bigint | undefined {
  if (!integerText.test(text)) return undefined;
  const value = BigInt(text);
  if (value < -largest || value >= largest) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function numberOf(text: string): number | undefined {
  const value = numberText.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const textOf = (text: string) => (wellFormed(text) ? text : undefined);

function booleanOf(value: WrittenDefault): boolean | undefined {
  if (value === true || value === 1 || value === 'true') return true;
  return value === false || value === 0 || value === 'false' ? false : undefined;
}
