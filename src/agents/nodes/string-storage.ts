import { z } from 'zod';

/** Returns the schema of a param that names a text file of responses or patterns. */
export const stringStorage = (what: string) =>
  z
    .string()
    .min(1)
    .optional()
    .describe(
      `Path of a text file inside the storage root, one ${what} per line. Default: the server's list.`,
    );
