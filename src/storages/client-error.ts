import { basename, join, sep } from 'node:path';
import { type ErrorDetail, type LorekeepError, messageOf } from '../../lib/basics.js';

/** Returns the form of a path of this machine that a client may see. */
export type ShownPath = (path: string) => string;

/** Shows a path below one of `roots` relative to it, a root itself as ".", and any other path by its last name. */
export function shownBelow(roots: readonly string[]): ShownPath {
  const prefixes = roots.map((root) => join(root, sep));
  return (path) => {
    const prefix = prefixes.find((each) => join(path, sep).startsWith(each));
    return prefix === undefined ? basename(path) : path.slice(prefix.length) || '.';
  };
}

/**
 * Whether a fact is for clients, a path that they see in another form, or for the operator alone. Facts for clients hold no path of
 * this machine. The sentences are in the message.
 */
const readers = {
  file: 'path',
  folder: 'path',
  holder: 'operator',
  reason: 'message',
  issues: 'message',
  remedy: 'operator',
  path: 'operator',
  items: 'operator',
  problems: 'operator',
  candidates: 'operator',
  directory: 'operator',
  linker: 'operator',
  missing: 'operator',
  platform: 'operator',
  tried: 'operator',
  architecture: 'client',
  bytes: 'client',
  cells: 'client',
  column: 'client',
  count: 'client',
  device: 'client',
  dimension: 'client',
  ef: 'client',
  errno: 'client',
  expected: 'client',
  field: 'client',
  first: 'client',
  found: 'client',
  free: 'client',
  id: 'client',
  ids: 'client',
  index: 'client',
  known: 'client',
  length: 'client',
  limit: 'client',
  line: 'client',
  mismatch: 'client',
  mistakes: 'client',
  model: 'client',
  nearest: 'client',
  need: 'client',
  node: 'client',
  pointer: 'client',
  record: 'client',
  released: 'client',
  row: 'client',
  rows: 'client',
  second: 'client',
  tokens: 'client',
  values: 'client',
  variable: 'client',
  version: 'client',
} as const satisfies Record<keyof ErrorDetail, 'client' | 'path' | 'message' | 'operator'>;

/** Commands and paths of the server are for its operator. */
const remedyOfOperator = 'build it again on the server: its log has the command';
const unknownReason = "cannot be used; the server's log says why";

/** Words an error of the library for a client, from its facts. A message without facts is of a call without files. */
export function forClient(
  { message, detail }: LorekeepError,
  shown: ShownPath,
): { message: string; details: Record<string, unknown> } {
  const facts: ErrorDetail = detail;
  const details = Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]): [string, unknown][] => {
      const reader = readers[name as keyof ErrorDetail] ?? 'operator';
      if (reader === 'client') return [[name, value]];
      return reader === 'path' && typeof value === 'string' ? [[name, shown(value)]] : [];
    }),
  );
  const { issues, reason = facts.file === undefined ? message : unknownReason } = facts;
  const remedy = facts.remedy && remedyOfOperator;
  return { message: messageOf({ ...details, reason, issues, remedy }), details };
}
