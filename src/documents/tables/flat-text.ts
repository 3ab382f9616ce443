import { UnreadableDocument } from '../document.js';

/** Deeper values are shown as JSON. */
const maxDepth = 24;

/** Longest name of a nested value; of a longer one the end is shown. */
const longestName = 120;

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a text, number or boolean as a text; "" for other values. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? String(value)
    : '';
}

/** Returns the lines of a value without a name: a nested value has its names, a chat its speakers. */
export function textOfValue(value: unknown): string {
  return [...linesOf('', value, 0)].join('\n');
}

/** Returns the lines of a value with its name before them. */
export function namedText(name: string, value: unknown): string {
  return [...linesOf(name, value, 0)].join('\n');
}

function* linesOf(name: string, value: unknown, depth: number): Generator<string> {
  const begin = name === '' ? '' : `${name.slice(-longestName)}: `;
  if (depth > maxDepth) {
    const rest = jsonOf(value);
    if (rest !== undefined) yield `${begin}${rest}`;
  } else if (Array.isArray(value)) yield* itemLines(name, begin, value, depth);
  else if (isObject(value)) {
    const turn = turnOf(value);
    if (turn !== undefined) yield turn.text;
    for (const [key, item] of Object.entries(value))
      if (!turn?.keys.includes(key)) yield* linesOf(nested(name, key), item, depth + 1);
  } else {
    const text = scalarText(value);
    if (text !== '') yield `${begin}${text}`;
  }
}

/** @throws UnreadableDocument if the value is nested too deeply */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item));
  } catch (cause) {
    throw new UnreadableDocument('is nested too deeply', { cause });
  }
}

const nested = (name: string, key: string) => (name === '' ? key : `${name.slice(-longestName)}.${key}`);

function* itemLines(
  name: string,
  begin: string,
  items: readonly unknown[],
  depth: number,
): Generator<string> {
  if (items.every((item) => typeof item !== 'object' || item === null)) {
    const texts = items.map(scalarText).filter((text) => text !== '');
    if (texts.length > 0) yield `${begin}${texts.join(', ')}`;
    return;
  }
  for (const item of items) yield* linesOf(name, item, depth + 1);
}

const speakerKeys = ['role', 'speaker', 'from', 'author', 'sender'];
const sayingKeys = ['content', 'text', 'value', 'message', 'parts'];

/** Returns a turn of a conversation as "speaker: text", with the keys that it has; undefined for another object. */
function turnOf(value: Values): { text: string; keys: readonly string[] } | undefined {
  const speaker = speakerKeys.find((key) => speakerOf(value[key]) !== '');
  const saying = sayingKeys.find((key) => sayingOf(value[key]) !== '');
  if (speaker === undefined || saying === undefined) return undefined;
  const said = sayingOf(value[saying]);
  // Some programs write a text twice, once in parts.
  const same = sayingKeys.filter((key) => sayingOf(value[key]) === said);
  return { text: `${speakerOf(value[speaker])}: ${said}`, keys: [speaker, ...same, 'type'] };
}

function speakerOf(value: unknown): string {
  return isObject(value) ? scalarText(value.name ?? value.role) : scalarText(value);
}

/** The text of a message, or of its parts of type text. */
function sayingOf(value: unknown, depth = 0): string {
  if (isObject(value))
    return depth > maxDepth ? '' : sayingOf(value.parts ?? value.text ?? value.content, depth + 1);
  if (!Array.isArray(value)) return scalarText(value);
  return value
    .map((part) => (isObject(part) ? scalarText(part.text) : scalarText(part)))
    .filter((text) => text !== '')
    .join('\n');
}
