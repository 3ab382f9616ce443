/** How a cell shows its number: as digits in places, such as 00000 or 000-00-0000, with decimals at least, or by name. */
export type NumberFormat =
  | 'date'
  | 'elapsed'
  | 'percent'
  | { readonly places: string }
  | { readonly decimals: number };

/** Returns how a format code of Excel shows numbers; undefined for a plain one. */
export function formatOfCode(code: string): NumberFormat | undefined {
  const [first = ''] = code.slice(0, 500).split(';');
  const shown = first.replace(/"[^"]*"|\\.|_.|\*./g, '');
  if (/\[(?:h+|m+|s+)\]/i.test(shown)) return 'elapsed';
  const plain = shown.replace(/\[[^\]]*\]/g, '');
  if (/^general$/i.test(plain)) return undefined;
  if (/[ymdhs]/i.test(plain.replace(/e[+-]0/gi, ''))) return 'date';
  if (plain.includes('%')) return 'percent';
  const literal = first.replace(/\[[^\]]*\]|"([^"]*)"|\\(.)|_.|\*./g, '$1$2').trim();
  if (/^[-0# ()/]+$/.test(literal) && /0[-0# ()/]*0/.test(literal)) return { places: literal };
  const decimals = /^[#,0]*0\.(0{1,15})$/.exec(plain.trim())?.[1]?.length;
  return decimals === undefined ? undefined : { decimals };
}

/** Returns how a built-in format shows numbers. */
export function builtInFormat(id: number): NumberFormat | undefined {
  if (id === 2 || id === 4) return { decimals: 2 };
  if (id === 9 || id === 10) return 'percent';
  if (id === 46) return 'elapsed';
  return (id >= 14 && id <= 22) || id === 45 || id === 47 ? 'date' : undefined;
}

/** Returns a number as the cell shows it. */
export function numberText(value: string, format: NumberFormat | undefined, from1904: boolean): string {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) return value;
  if (format === 'date') return dateText(value, number, from1904);
  if (format === 'elapsed') return elapsedText(number);
  if (format === 'percent') return `${rounded(number * 100)}%`;
  if (typeof format === 'object' && 'places' in format) return inPlaces(value, format.places);
  if (typeof format === 'object') return withDecimals(rounded(number), format.decimals);
  // Files have 17 digits of a number of which 15 are shown; integers are exact.
  return /^-?\d+$/.test(value) ? value : rounded(number);
}

const rounded = (number: number) => String(Number(number.toPrecision(15)));

/** Returns the digits of a number in the places of a format: those of codes and telephone numbers. */
function inPlaces(value: string, places: string): string {
  if (!/^\d{1,20}$/.test(value)) return value;
  let digits = value;
  let text = '';
  for (const place of [...places].reverse()) {
    const isDigit = place === '0' || place === '#';
    if (!isDigit) text = place + text;
    else if (digits !== '') [text, digits] = [digits.slice(-1) + text, digits.slice(0, -1)];
    else if (place === '0') text = `0${text}`;
  }
  return (digits + text).trim();
}

/** Returns a number with zeros up to a number of decimals. None of its digits is dropped. */
function withDecimals(text: string, decimals: number): string {
  if (text.includes('e')) return text;
  const [whole = '', fraction = ''] = text.split('.');
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
}

/** Days from 1970-01-01 back to the first day of each system of dates. */
const epochs = { 1900: 25_569, 1904: 24_107 } as const;

const daySeconds = 86_400;

/** Returns a serial number as a date, with its time if it has one. */
function dateText(value: string, serial: number, from1904: boolean): string {
  if (serial < 0 || serial > 3_000_000) return value;
  // The system of 1900 has a 29th of February.
  const leap = !from1904 && serial >= 1 && serial < 60 ? 1 : 0;
  const days = serial + leap - epochs[from1904 ? 1904 : 1900];
  const text = new Date(Math.round(days * daySeconds) * 1000).toISOString();
  const time = text.slice(17, 19) === '00' ? text.slice(11, 16) : text.slice(11, 19);
  if (serial < 1 && !from1904) return time;
  return Number.isInteger(serial) ? text.slice(0, 10) : `${text.slice(0, 10)} ${time}`;
}

/** Returns days as hours, minutes and seconds. */
function elapsedText(days: number): string {
  const total = Math.round(Math.abs(days) * daySeconds);
  const two = (number: number) => String(number).padStart(2, '0');
  const time = `${Math.floor(total / 3600)}:${two(Math.floor(total / 60) % 60)}:${two(total % 60)}`;
  return days < 0 ? `-${time}` : time;
}
