import { LorekeepError } from '../../lib/index.js';

/** What the log says of something that was thrown. */
export interface ErrorFields {
  type: string;
  code?: string | number;
  message?: string;
  /** The calls alone, when the message is left out. */
  stack: string;
  cause?: ErrorFields;
}

/** Library errors about files and the machine; the others quote what a client sent. */
const aboutFiles: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'IO',
  'MODEL_INVALID',
  'CORRUPT',
  'OUT_OF_MEMORY',
]);

/** `withTexts`: messages that may quote a client are kept. */
export function errorFields(thrown: unknown, withTexts: boolean, depth = 0): ErrorFields {
  if (!(thrown instanceof Error)) {
    return { type: typeof thrown, stack: '', ...(withTexts && { message: String(thrown) }) };
  }
  const { code } = thrown as { code?: unknown };
  const kept = withTexts || !quotesClients(thrown);
  const calls = (thrown.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const head = kept ? [`${thrown.name}: ${thrown.message}`] : [thrown.name];
  return {
    type: thrown.name,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(kept && { message: thrown.message }),
    stack: [...head, ...calls].join('\n'),
    ...(thrown.cause !== undefined &&
      depth < 4 && { cause: errorFields(thrown.cause, withTexts, depth + 1) }),
  };
}

/** Whether the message may hold a part of a request. */
function quotesClients(error: Error): boolean {
  if (error instanceof LorekeepError) return !aboutFiles.has(error.code);
  // Parsers show what they stumbled over.
  if (error instanceof SyntaxError) return true;
  const { code } = error as { code?: unknown };
  // Codes of the protocol are numbers. Node's own argument errors show the value that they received.
  if (typeof code === 'number') return true;
  return typeof code === 'string' && (code.startsWith('ERR_INVALID') || code === 'ERR_ASSERTION');
}
