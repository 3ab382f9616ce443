import { inspect } from 'node:util';
import { terminalControl, unicodeEscape } from '../base/schema/terminal-control.js';

const levels: Readonly<Record<string, { name: string; color: number }>> = {
  trace: { name: 'TRACE', color: 90 },
  debug: { name: 'DEBUG', color: 36 },
  info: { name: 'INFO ', color: 32 },
  warn: { name: 'WARN ', color: 33 },
  error: { name: 'ERROR', color: 31 },
  fatal: { name: 'FATAL', color: 35 },
};

/** Formats a JSON log line for a terminal: local time, level, message, other fields; stacks on separate lines. */
export function prettyLine(line: string, colors: boolean): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, err, ...rest } = fields;
  const paint = (text: string, color: number) => (colors ? `\u001b[${color}m${text}\u001b[0m` : text);
  const { name, color } = levels[String(level)] ?? { name: String(level), color: 0 };
  const facts = Object.entries(rest).map(([key, value]) => `${key}=${shown(value)}`);
  const head = [paint(clock(time), 90), paint(name, color), printable(String(msg ?? ''))];
  const { stack } = (err ?? {}) as { stack?: string };
  const tail =
    stack === undefined
      ? ''
      : `\n${stack
          .split('\n')
          .map((frame) => `    ${printable(frame)}`)
          .join('\n')}`;
  return `${[...head, facts.length > 0 ? paint(facts.join(' '), 90) : ''].filter(Boolean).join(' ')}${tail}\n`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : printable(JSON.stringify(value));
  return typeof value === 'object'
    ? printable(inspect(value, { breakLength: Infinity, depth: 4 }))
    : String(value);
}

/** Escapes what controls a terminal: a message may contain a name chosen by a client. */
const printable = (text: string): string => text.replace(terminalControl, escaped);

/** Escapes a character as in JSON, which leaves control characters from U+007F on unescaped. */
function escaped(char: string): string {
  const json = JSON.stringify(char).slice(1, -1);
  return json === char ? unicodeEscape(char) : json;
}

function clock(time: unknown): string {
  const date = new Date(String(time));
  const two = (value: number) => String(value).padStart(2, '0');
  const millis = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}
