import type { FieldDefinition } from '../../lib/index.js';

type FieldType = FieldDefinition['type'];

/** As a config's JSON has it. */
export type WrittenDefault = number | string | boolean | string[];

/** Half of a surrogate pair is no character, and no records file can hold one. */
export const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text);

/** What a default can be, by type. */
export const expectedDefault: Readonly<Record<FieldType, string>> = {
  int: 'an integer of 64 bits (one beyond 2^53 between quotes, which keep it exact)',
  float: 'a number',
  string: 'a string',
  bool: 'true or false',
  'set<string>': 'an array of strings',
};

const largest = 2n ** 63n;
export const integerText = /^-?\d{1,19}$/;
export const numberText = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * The value of the type that a default stands for: itself, or what says the same in other words ("5" of an int, 5 of a string).
 * Nothing is rounded or guessed. Undefined when there is none.
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
