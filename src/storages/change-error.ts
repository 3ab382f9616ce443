import { AnyLorekeepError } from '../../lib/basics.js';
import { serverError } from '../protocol/errors.js';
import { inlineError } from './wire-errors.js';

const codes = { RECORD_EXISTS: 8007, RECORD_MISSING: 8008, DUPLICATE_ID: 8009 } as const;

/** Converts the error of a change, or of a version. `added`: number of records that the batch adds, before those that it replaces. */
export function changeError(error: unknown, added = 0): unknown {
  if (!(error instanceof AnyLorekeepError)) return error;
  const { code, message, detail } = error;
  const facts = detail as Record<string, unknown>;
  switch (code) {
    case 'RECORD_EXISTS':
    case 'RECORD_MISSING':
    case 'DUPLICATE_ID': {
      const { ids = [], count = 0 } = facts as { ids?: string[]; count?: number };
      return serverError(codes[code], message, { path: 'ids', ids, count }, { cause: error });
    }
    case 'VERSION_MISMATCH':
      return serverError(
        8010,
        `if_version: ${message}`,
        { path: 'if_version', version: Number(facts.version) },
        { cause: error },
      );
    case 'VERSION_GONE':
      return serverError(8011, `as_of: ${message}`, { path: 'as_of' }, { cause: error });
    case 'IO':
    case 'CORRUPT':
      if (facts.holder !== undefined)
        return serverError(
          8013,
          'name: another process changes the knowledge base',
          { path: 'name' },
          { cause: error },
        );
      return serverError(
        8014,
        "name: the change could not be written; the server's log has the reason",
        { path: 'name' },
        { cause: error },
      );
    case 'TEXT_TOO_LONG':
    case 'INVALID_ARGUMENT': {
      const place = placeOf(facts, added);
      if (facts.expected !== undefined && place !== undefined) return ruleError(error, place, facts);
      if (facts.field !== undefined || facts.id === undefined) return inlineError(error);
      const { id, tokens, limit } = facts as { id: string; tokens?: number; limit?: number };
      const details = { path: place ?? 'records', id, ...(tokens !== undefined && { tokens, limit }) };
      return serverError(8003, message, details, { cause: error });
    }
    default:
      return inlineError(error);
  }
}

/** The first wrong record, such as `add[3]`; undefined for an error about something else. */
function placeOf(
  { issues, record }: { issues?: unknown; record?: unknown },
  added: number,
): string | undefined {
  if (typeof record === 'number') return record < added ? `add[${record}]` : `replace[${record - added}]`;
  return Array.isArray(issues) ? /^(?:add|replace)\[\d+\]/.exec(String(issues[0]))?.[0] : undefined;
}

/** A record breaks a rule of records files. */
function ruleError(cause: Error, place: string, facts: Record<string, unknown>): unknown {
  const { field, expected, found, mistakes, record } = facts;
  // Memory refuses values of fields.
  const at = record === undefined ? place : `${place}.metadata`;
  const path = field === undefined ? at : `${at}.${field}`;
  const more = Number(mistakes) > 1 ? `; there are ${mistakes} mistakes` : '';
  return serverError(8003, `${path}: ${expected} is expected, not ${found}${more}`, { path }, { cause });
}
