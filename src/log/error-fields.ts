import { LorekeepError } from '../../lib/internal.js';

/** The fields of a thrown value in the log. */
export interface ErrorFields {
  type: string;
  code?: string | number;
  message?: string;
  /** Only the calls if the message is omitted. */
  stack: string;
  cause?: ErrorFields;
}

/** Codes of library errors about files and the machine; other errors may quote a client. */
const aboutFiles: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'IO',
  'MODEL_INVALID',
  'CORRUPT',
  'OUT_OF_MEMORY',
  'DEVICE_LOST',
]);

/** `withTexts`: keep messages that may quote a client. */
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

/** Returns whether the message may contain a part of a request. */
function quotesClients(error: Error): boolean {
  if (error instanceof LorekeepError) return !aboutFiles.has(error.code);
  // Parsers quote the invalid text.
  if (error instanceof SyntaxError) return true;
  const { code } = error as { code?: unknown };
  // Protocol codes are numbers. Node's argument errors quote the value.
  if (typeof code === 'number') return true;
  return typeof code === 'string' && (code.startsWith('ERR_INVALID') || code === 'ERR_ASSERTION');
}
