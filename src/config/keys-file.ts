import { z } from 'zod';
import { describeIssue, fieldIssue } from '../base/schema/field-issue.js';
import { plainMessage } from '../base/schema/messages.js';
import { readSecretFile } from './access-token.js';
import { StartupError } from './startup-error.js';

/** What a key allows. `files`: paths of the storage root, downloads of models, debug commands. */
export const rights = ['search', 'chat', 'write', 'files'] as const;

export type Right = (typeof rights)[number];

/** A named key of `http.keys_file`. */
export interface Key {
  readonly name: string;
  readonly key: string;
  readonly rights: readonly Right[];
}

/** The rights of a client. */
export interface Grant {
  readonly rights: ReadonlySet<Right>;
  /** Name of the key that gave them; undefined for the access token, and where no secret is needed. */
  readonly key?: string;
}

/** All rights: of clients with the access token, and where no secret is needed. */
export const fullGrant: Grant = { rights: new Set(rights) };

/** Longest keys file, in bytes. */
const longestFile = 1_048_576;

/** Shorter keys can be guessed. */
const shortestKey = 16;

const expectedKey = `a string of ${shortestKey} to 4096 characters is expected`;

/** The schema of the keys file. */
export const keysFileSchema = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(64).describe('Name for the log; unique.'),
        // The message never shows the value: it is a secret.
        key: z
          .string({ error: expectedKey })
          .regex(/^[\x21-\x7e]{16,4096}$/, { error: `${expectedKey}, of printable ASCII without spaces` })
          .describe('The secret.'),
        rights: z.array(z.enum(rights)).min(1).describe('The rights of its holder.'),
      }),
    )
    .min(1)
    .max(1000),
});

/** Reads the keys of a file. `what` starts the messages. @throws StartupError */
export async function readKeys(path: string, what: string): Promise<{ keys: Key[]; warnings: string[] }> {
  const refuse = (problem: string): never => {
    throw new StartupError(`${what}: ${path}: ${problem}`);
  };
  const { text, warnings } = await readSecretFile(path, what, longestFile, 'the keys');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // JSON.parse quotes the text, and so a secret.
    return refuse('is not JSON');
  }
  const parsed = keysFileSchema.safeParse(value, { error: plainMessage });
  if (!parsed.success) {
    const { path: place } = fieldIssue(keysFileSchema, value as object, parsed.error);
    return refuse(
      place.endsWith('.key')
        ? `${place}: ${expectedKey}, of printable ASCII without spaces`
        : describeIssue(fieldIssue(keysFileSchema, value as object, parsed.error)),
    );
  }
  const { keys } = parsed.data;
  for (const field of ['name', 'key'] as const) {
    const values = keys.map((key) => key[field]);
    const twice = values.findIndex((each, index) => values.indexOf(each) !== index);
    if (twice >= 0) refuse(`keys[${twice}].${field}: is used twice`);
  }
  return { keys, warnings };
}
