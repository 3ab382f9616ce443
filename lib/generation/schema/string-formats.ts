/** ECMAScript patterns of the formats that strings may have. */

const month31 = '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])';
const month30 = '(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)';
const february = '02-(?:0[1-9]|1\\d|2[0-8])';
const leapYear = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const date = `(?:\\d{4}-(?:${month31}|${month30}|${february})|${leapYear}-02-29)`;
// Without leap seconds, which most readers of dates refuse.
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?';
const time = `${clock}(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)`;

const seconds = '\\d+S';
const minutes = `\\d+M(?:${seconds})?`;
const hours = `\\d+H(?:${minutes})?`;
const daytime = `T(?:${hours}|${minutes}|${seconds})`;
const days = '\\d+D';
const months = `\\d+M(?:${days})?`;
const years = `\\d+Y(?:${months})?`;
const duration = `P(?:(?:${days}|${months}|${years})(?:${daytime})?|${daytime}|\\d+W)`;

// Names of more than 63 characters are left out, so that no label is longer, and "--", which begins names in other scripts.
const labels = '[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*';
const hostname = `(?=.{1,63}$)${labels}(?:\\.${labels})*`;
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const nameCharacter = '[A-Za-z0-9_\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{24f}]';
const email = `(?=.{1,64}@)${atom}+(?:\\.${atom}+)*@${hostname}`;

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = `${octet}(?:\\.${octet}){3}`;
const group = '[0-9A-Fa-f]{1,4}';
const last32 = `(?:${group}:${group}|${ipv4})`;
const ipv6 = `(?:${[
  `(?:${group}:){6}${last32}`,
  `::(?:${group}:){5}${last32}`,
  `(?:${group})?::(?:${group}:){4}${last32}`,
  ...[1, 2, 3].map(
    (before) => `(?:(?:${group}:){0,${before}}${group})?::(?:${group}:){${4 - before}}${last32}`,
  ),
  `(?:(?:${group}:){0,4}${group})?::${last32}`,
  `(?:(?:${group}:){0,5}${group})?::${group}`,
  `(?:(?:${group}:){0,6}${group})?::`,
].join('|')})`;

const ipv4Prefix = '(?:[12]?\\d|3[0-2])';
const ipv6Prefix = '(?:\\d|[1-9]\\d|1[01]\\d|12[0-8])';
const ipv4Interface = `${ipv4}(?:/${ipv4Prefix})?`;
const ipv6Interface = `${ipv6}(?:/${ipv6Prefix})?`;
// A network has no bits behind its prefix.
const ipv4Network = `(?:${ipv4}(?:/32)?|${[...Array(32).keys()].map(ipv4NetworkOf).join('|')})`;
const ipv6Network = `(?:${ipv6}(?:/128)?|::/${ipv6Prefix}|${[...Array(7).keys()].map(ipv6NetworkOf).join('|')})`;

function ipv4NetworkOf(prefix: number): string {
  const whole = Math.floor(prefix / 8);
  const step = 2 ** (8 - (prefix % 8));
  const multiples = [...Array(256 / step).keys()].map((index) => index * step);
  const octets = [...Array(whole).fill(octet), `(?:${multiples.join('|')})`, ...Array(3 - whole).fill('0')];
  return `${octets.join('\\.')}/${prefix}`;
}

/** Networks of which some groups, `more` after the first, are written, and at most these are the prefix. */
function ipv6NetworkOf(more: number): string {
  const prefixes = [...Array(129).keys()].slice(16 * (more + 1));
  return `(?:${group}:){${more}}${group}::/(?:${prefixes.join('|')})`;
}

const port = '(?::[1-5]?\\d{1,4})?';

/** `others`: further characters that are not escaped. */
function addresses(others: string) {
  const unreserved = `A-Za-z0-9._~!$&'()*+,;=${others}-`;
  const octetEscape = '%[0-9A-Fa-f]{2}';
  const part = `(?:[:@${unreserved}]|${octetEscape})`;
  const firstPart = `(?:[@${unreserved}]|${octetEscape})`;
  const user = `(?:(?:[:${unreserved}]|${octetEscape})*@)?`;
  // A host that is an IPv6 address would take most of the states.
  const host = `(?:[${unreserved}]|${octetEscape})*`;
  const authority = `//${user}${host}${port}(?:/${part}*)*`;
  const rooted = `/(?:${part}+(?:/${part}*)*)?`;
  const end = `(?:\\?(?:${part}|[/?])*)?(?:#(?:${part}|[/?])*)?`;
  const absolute = `[A-Za-z][A-Za-z0-9+.-]*:(?:${authority}|${rooted}|${part}+(?:/${part}*)*)?${end}`;
  const relative = `(?:${authority}|${rooted}|${firstPart}+(?:/${part}*)*)?${end}`;
  const hosts = `${labels}(?:\\.${labels})*${port}`;
  const several = `[A-Za-z][A-Za-z0-9+.-]*://${user}${hosts}(?:,${hosts})*(?:/${part}*)*${end}`;
  return { absolute, several, reference: `(?:${absolute}|${relative})` };
}

const uri = addresses('');
const iri = addresses('\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}\\u{10000}-\\u{1fffd}');
const pointer = '(?:/(?:[^~/]|~[01])*)*';
const uuid = (version: string) =>
  `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-${version}[0-9A-Fa-f]{3}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`;
const base64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?';

const patterns: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  'partial-time': clock,
  'partial-date-time': `${date}T${clock}`,
  duration,
  email,
  'name-email': `(?:${email}|${nameCharacter}+(?: ${nameCharacter}+)* <${email}>)`,
  hostname,
  ipv4,
  ipv6,
  ip: `(?:${ipv4}|${ipv6})`,
  ipv4interface: ipv4Interface,
  ipv6interface: ipv6Interface,
  ipv4network: ipv4Network,
  ipv6network: ipv6Network,
  ipvanyaddress: `(?:${ipv4}|${ipv6})`,
  ipvanyinterface: `(?:${ipv4Interface}|${ipv6Interface})`,
  ipvanynetwork: `(?:${ipv4Network}|${ipv6Network})`,
  uri: uri.absolute,
  'multi-host-uri': uri.several,
  'uri-reference': uri.reference,
  iri: iri.absolute,
  'iri-reference': iri.reference,
  uuid: uuid('[0-9A-Fa-f]'),
  ...Object.fromEntries([1, 3, 4, 5, 6, 7, 8].map((version) => [`uuid${version}`, uuid(String(version))])),
  'json-pointer': pointer,
  'relative-json-pointer': `(?:0|[1-9]\\d*)(?:#|${pointer})`,
  base64,
  byte: base64,
  color: '#(?:[0-9A-Fa-f]{3}){1,2}',
  fraction: '-?\\d+(?:/[1-9]\\d*)?',
  // Its header says {"alg":"HS256","typ":"JWT"}: readers refuse one that is no JSON.
  jwt: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9(?:\\.(?:[A-Za-z0-9_-]{4})+){2}',
  base64url: '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?',
};

/** Formats that say something about the use of a string, not about its characters. */
const free: ReadonlySet<string> = new Set(['password', 'binary', 'path', 'file-path', 'directory-path']);

export const knownFormats: readonly string[] = Object.keys(patterns);

/** The pattern of a format, '' for one that allows every string; undefined for an unknown one. */
export function formatPattern(format: string): string | undefined {
  if (free.has(format)) return '';
  return Object.hasOwn(patterns, format) ? `^(?:${patterns[format]})$` : undefined;
}

/** The key of a format, and of a pattern beside it, in format-automata.gen.ts. */
export const formatKey = (format: string, pattern = '') => `${format} ${pattern}`.trim();

/** Bits and sign of formats of integers. */
const integerFormat = /^(u?)int(8|16|32|64|128)?$/;

/** The bounds of a format of integers, both included; undefined for another format. */
export function integerFormatRange(format: string): { least: bigint; most: bigint } | undefined {
  const [all, unsigned, bits = '64'] = integerFormat.exec(format) ?? [];
  if (all === undefined) return undefined;
  const width = BigInt(bits);
  return unsigned === 'u'
    ? { least: 0n, most: 2n ** width - 1n }
    : { least: -(2n ** (width - 1n)), most: 2n ** (width - 1n) - 1n };
}

/** Formats of numbers that restrict no number that a grammar writes. */
export const numberFormats: ReadonlySet<string> = new Set([
  'float',
  'double',
  'decimal',
  'number',
  'time-delta',
]);
