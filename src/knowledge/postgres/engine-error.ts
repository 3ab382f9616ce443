import { AnyLorekeepError } from '../../../lib/basics.js';

/** An error of a database that keeps a knowledge base. Its words are ours: those of the database are in `cause`, for the log. */
export class EngineError extends AnyLorekeepError {
  /** Whether no server answered, or it went away: the same call may succeed later. */
  readonly isOutage: boolean;

  constructor(
    connection: string,
    { reason, remedy, isOutage = false }: { reason: string; remedy?: string; isOutage?: boolean },
    options?: ErrorOptions,
  ) {
    const told = `the connection ${JSON.stringify(connection)}: ${reason}`;
    // The remedy is the operator's: clients are told the reason alone.
    const message = `engine: ${told}${remedy === undefined ? '' : `; ${remedy}`}`;
    super('IO', message, { field: 'engine', reason: told }, options);
    this.isOutage = isOutage;
  }
}

/** Errors of the driver and of sockets that mean that no server answers. */
const outages = new Set([
  ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED'],
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ETIMEDOUT',
  ],
]);

interface Words {
  readonly reason: string;
  readonly remedy?: string;
  readonly isOutage?: boolean;
}

const unreachable: Words = { reason: 'no server answers', isOutage: true };

/** By SQLSTATE, or the beginning of one. */
const states: Readonly<Record<string, Words>> = {
  '28': {
    reason: 'the server refuses the user or its password',
    remedy: 'correct "user" and the password of the connection',
  },
  '3D000': { reason: 'the database does not exist', remedy: 'correct "database" of the connection' },
  '42501': {
    reason: 'the user lacks a right',
    remedy: 'grant it: docs/guides/postgres.md lists the rights',
  },
  '42P01': {
    reason: 'the table is absent or not one of lorekeep',
    remedy: '`lorekeep push` makes it',
  },
  '3F000': { reason: 'the schema does not exist', remedy: 'create it, and grant the user its use' },
  '42704': {
    reason: 'the extension vector is absent',
    remedy: 'have an administrator run CREATE EXTENSION vector in the database',
  },
  '25006': {
    reason: 'the server is a replica that cannot be written',
    remedy: 'set "session" of the connection to "read-write"',
  },
  '53': { reason: 'the server has no room or no connection left', isOutage: true },
  '57P': { reason: 'the server is stopping or starting', isOutage: true },
  '08': unreachable,
  '40': { reason: 'another change came first', remedy: 'try again', isOutage: true },
  '57014': { reason: 'the server cancelled the statement' },
};

/** Returns the error of a database in our words. Errors that are ours stay as they are. */
export function engineError(connection: string, cause: unknown): unknown {
  if (cause instanceof AnyLorekeepError) return cause;
  const { code } = cause as { code?: unknown };
  if (typeof code !== 'string') return cause;
  const words =
    outages.has(code) || /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)
      ? networkWords(code)
      : stateWords(code);
  return new EngineError(connection, words, { cause });
}

/** Whether an error of the driver means that another host, or a later attempt, may do. */
export function isOutage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return false;
  return outages.has(code) || stateWords(code).isOutage === true;
}

function networkWords(code: string): Words {
  if (outages.has(code)) return unreachable;
  if (code === 'NO_TLS')
    return { reason: 'the server does not offer TLS', remedy: 'switch it on there: ssl = on' };
  return {
    reason: 'the certificate of the server is not trusted',
    remedy: 'name the certificate of its authority in "ca_file"',
  };
}

function stateWords(code: string): Words {
  const known = [5, 3, 2].map((length) => states[code.slice(0, length)]).find((words) => words !== undefined);
  if (known !== undefined) return known;
  const shown = /^[0-9A-Z]{5}$/.test(code) ? ` (SQLSTATE ${code})` : '';
  return { reason: `the server refuses a statement${shown}`, remedy: 'the log has its words' };
}
