import { pieceDecoder } from '../../files/encoding.js';

/** A line of a calendar or of contacts, such as `item1.TEL;TYPE=work:+49 30 1`. */
export interface Property {
  /** Joins the lines of a group; "" for none. */
  readonly group: string;
  /** In capitals. */
  readonly name: string;
  /** By names in capitals; a value without a name is of TYPE. */
  readonly parameters: ReadonlyMap<string, string>;
  /** As it is written, with escapes. */
  readonly value: string;
}

/** What stands between BEGIN and END. */
export interface Component {
  /** In capitals. */
  readonly kind: string;
  readonly properties: readonly Property[];
  readonly components: readonly Component[];
}

interface OpenComponent extends Component {
  readonly properties: Property[];
  readonly components: Component[];
}

/** Components in components: those inside of deeper ones are of no form, and are left out. */
const deepest = 16;

/** Longest name with its parameters, in characters. */
const longestHead = 4000;

/** Reads the components of a text in the form of iCalendar and vCard. Lines that are no properties are left out. */
export function readComponents(text: string): Component[] {
  const top: OpenComponent = { kind: '', properties: [], components: [] };
  const open = [top];
  let beyond = 0;
  for (const line of unfolded(text)) {
    const property = propertyOf(line);
    if (property === undefined) continue;
    const around = open.at(-1) ?? top;
    if (property.name === 'BEGIN' && open.length > deepest) beyond++;
    else if (beyond > 0) beyond -= property.name === 'END' ? 1 : 0;
    else if (property.name === 'BEGIN') {
      const component = { kind: property.value.trim().toUpperCase(), properties: [], components: [] };
      around.components.push(component);
      open.push(component);
    } else if (property.name === 'END') {
      if (open.length > 1) open.pop();
    } else around.properties.push(property);
  }
  return top.components;
}

/** Yields the lines; one that begins with a space continues the line above it. */
function* unfolded(text: string): Generator<string> {
  let parts: string[] = [];
  let isSoft = false;
  for (const [, line = ''] of text.matchAll(/([^\r\n]*)(?:\r\n?|\n|$)/g)) {
    const isFolded = parts.length > 0 && /^[ \t]/.test(line);
    if (parts.length > 0 && !isSoft && !isFolded) {
      yield parts.join('');
      parts = [];
    }
    parts.push(isFolded && !isSoft ? line.slice(1) : line);
    // A line of quoted-printable text that ends with "=" goes on.
    isSoft = line.endsWith('=') && /^[^:]{0,200}QUOTED-PRINTABLE/i.test(parts[0] ?? '');
    if (isSoft) parts.push('\n');
  }
  yield parts.join('');
}

function propertyOf(line: string): Property | undefined {
  const end = endOfHead(line);
  if (end === undefined) return undefined;
  const [first = '', ...rest] = line.slice(0, end).match(/(?:"[^"]*"|[^";])+/g) ?? [];
  const names = /^(?:([\w-]{1,100})\.)?([\w-]{1,100})$/.exec(first.trim());
  if (names === null) return undefined;
  const [, group = '', name = ''] = names;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [, given, text = ''] = /^(?:([\w-]+)=)?(.*)$/s.exec(part) ?? [];
    const parameter = given?.toUpperCase() ?? 'TYPE';
    const value = text.replaceAll('"', '');
    const before = parameters.get(parameter);
    parameters.set(parameter, before === undefined ? value : `${before},${value}`);
  }
  const isQuoted = [...parameters.values()].some((value) => /(?:^|,)quoted-printable(?:,|$)/i.test(value));
  const value = line.slice(end + 1);
  return {
    group,
    name: name.toUpperCase(),
    parameters,
    value: isQuoted ? fromQuotedPrintable(value, parameters.get('CHARSET') ?? 'utf-8') : value,
  };
}

/** Returns the place of the colon between the names and the value. */
function endOfHead(line: string): number | undefined {
  let inQuotes = false;
  for (let at = 0; at < Math.min(line.length, longestHead); at++) {
    if (line[at] === '"') inQuotes = !inQuotes;
    else if (line[at] === ':' && !inQuotes) return at;
  }
  return undefined;
}

function fromQuotedPrintable(text: string, charset: string): string {
  const bytes = Buffer.from(text.replace(/=[ \t]*\n/g, ''), 'utf8')
    .toString('latin1')
    .replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    const decoded = pieceDecoder(charset.toLowerCase());
    return decoded(Buffer.from(bytes, 'latin1')) + decoded();
  } catch {
    return text; // an unknown encoding
  }
}

/** Returns a value without its escapes. */
export const unescaped = (value: string): string =>
  value.replace(/\\([\s\S])/g, (_, character: string) => (/n/i.test(character) ? '\n' : character)).trim();

/** Returns the parts of a value between separators that are not escaped, without escapes. */
export const partsOf = (value: string, separator: ';' | ','): string[] =>
  (
    value.match(separator === ';' ? /(?:\\[\s\S]|[^\\;])+|(?<=;)(?=;)|^(?=;)/g : /(?:\\[\s\S]|[^\\,])+/g) ??
    []
  ).map(unescaped);

/** Returns the value of the first property of a name without its escapes; undefined if it has none. */
export function textOf({ properties }: Component, name: string): string | undefined {
  const found = properties.find((property) => property.name === name);
  return found === undefined ? undefined : unescaped(found.value) || undefined;
}
