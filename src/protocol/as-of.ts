import { z } from 'zod';
import { anyObject } from '../base/schema/bounded.js';

const badVersion = { error: 'a version from 0 up, or a time such as "2024-05-31T12:00:00Z", is expected' };

/** A version of a storage, or a time: the newest version that existed then. */
export const asOfSchema = z.union(
  [z.int(badVersion).min(0, badVersion), z.iso.datetime({ offset: true, ...badVersion })],
  badVersion,
);

export type AsOf = z.output<typeof asOfSchema>;

/** Maximum number of storages that a turn names: a graph has at most this many nodes. */
const maxNamed = 256;

const { $schema: _, ...asOfDocs } = z.toJSONSchema(asOfSchema, { io: 'input' });

const badTurn = {
  error:
    'a time such as "2024-05-31T12:00:00Z", or an object of storage names and their versions or times, is expected',
};

/** Versions of the storages of a turn: a time for all, or a version or time for each by its name in the graph. */
export const turnAsOfSchema = z.union(
  [
    z.iso.datetime({ offset: true, ...badTurn }),
    // Their number is checked first, so the documentation does not follow from the record.
    anyObject()
      .meta({ ...anyObject().meta(), additionalProperties: asOfDocs })
      .refine((named) => Object.keys(named).length <= maxNamed, {
        error: `at most ${maxNamed} storages are expected`,
      })
      .pipe(z.record(z.string(), asOfSchema, badTurn)),
  ],
  badTurn,
);

export type TurnAsOf = z.output<typeof turnAsOfSchema>;
