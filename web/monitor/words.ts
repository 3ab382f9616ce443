import { bytes, ms } from '../parts/format.js';

/** A fact in words: its name, and its value with a unit. */
export type Fact = readonly [name: string, value: string];

const names: Readonly<Record<string, string>> = {
  dense: 'by meaning',
  lexical: 'by words',
  rrf: 'by ranks',
  prefill: 'reading the prompt',
  decode: 'writing',
  embed: 'embedding',
  top_k: 'hits wanted',
  bm25: 'BM25',
};

/** `longestWaitMs`, `prompt_tokens` and `dense` in words, without the unit. */
export function inWords(key: string): string {
  const parts = key
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replace(/_(ms|bytes)$/, '');
  return (
    names[parts] ??
    parts
      .split('_')
      .map((part) => names[part] ?? part)
      .join(' ')
  );
}

/** A value with its unit, which the key names. */
export function valueInWords(key: string, value: unknown): string {
  if (typeof value === 'number') {
    if (/(_ms|Ms)$/.test(key)) return ms(value);
    if (/(_bytes|Bytes)$/.test(key)) return bytes(value);
    return Number.isInteger(value) ? value.toLocaleString() : String(Number(value.toPrecision(4)));
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.join(', ') || 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The value of a field of the config: numbers as they are written there, no value in words. */
export function settingInWords(value: unknown): string {
  if (value === null || value === undefined) return 'not set';
  if (value === '') return 'empty';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(settingInWords).join(', ') || 'none';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${key}: ${settingInWords(part)}`);
  return parts.join(', ') || 'none';
}

/** The fields of a log line in words. Numbers are identifiers, so that they have no separators. */
export function fieldsInWords(fields: object, above = ''): string {
  const parts = Object.entries(fields).map(([key, value]) => {
    const name = above === '' ? inWords(key) : `${above}, ${inWords(key)}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return fieldsInWords(value, name);
    const hasUnit = /(_ms|Ms|_bytes|Bytes)$/.test(key);
    return `${name} ${typeof value === 'number' && !hasUnit ? value : valueInWords(key, value)}`;
  });
  return parts.join('; ');
}

/** The facts of an object; those of objects in it have its name before theirs. */
export function factsOf(value: object, above = ''): Fact[] {
  return Object.entries(value).flatMap(([key, part]): Fact[] => {
    const name = above === '' ? inWords(key) : `${above}, ${inWords(key)}`;
    if (part === undefined || part === null) return [];
    if (typeof part === 'object' && !Array.isArray(part)) return factsOf(part, name);
    return [[name, valueInWords(key, part)]];
  });
}

/** A description without the marks of code. */
export const plain = (text: string): string => text.replaceAll('`', '');
