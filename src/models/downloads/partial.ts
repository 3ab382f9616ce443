import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { LorekeepError, nameIdAt, readRegular, replaceFile } from '../../../lib/basics.js';

const stateSchema = z.object({
  url: z.string(),
  etag: z.string(),
  total: z.int(),
  /** As the server told. */
  sha256: z.string().optional(),
});

/** Identity of the complete file. */
export type PartialState = z.output<typeof stateSchema>;

/** Largest file of a state in bytes. */
const maxBytes = 64 * 1024;

/** Follow no link, wait for no pipe. Windows has neither flag. */
const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `FILE.part` with the bytes so far, and `FILE.part.json` with their source. */
export class Partial {
  readonly path: string;
  readonly #file: string;
  readonly #statePath: string;

  constructor(file: string) {
    this.#file = file;
    this.path = `${file}.part`;
    this.#statePath = `${file}.part.json`;
  }

  /** Opens the bytes so far. Those of another address or version are dropped. @throws IO for bytes without a state: they are not ours */
  async open(url: string): Promise<{ file: FileHandle; state: PartialState | undefined; length: number }> {
    const { O_RDWR, O_APPEND, O_CREAT } = constants;
    const file = await open(this.path, O_RDWR | O_APPEND | O_CREAT | careful, 0o644);
    try {
      const state = await this.#state();
      const found = await file.stat();
      if (!found.isFile() || (found.size > 0 && state === undefined)) throw notOurs(this.path);
      // Without a strong ETag nothing says that the next bytes are of the same file.
      if (state?.url === url && state.etag !== '' && found.size <= state.total)
        return { file, state, length: found.size };
      await file.truncate(0);
      return { file, state: undefined, length: 0 };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Written before the first byte, so that bytes never exist without it. */
  async begin(file: FileHandle, state: PartialState): Promise<void> {
    await file.truncate(0);
    const isOurs = (text: string) => parse(text) !== undefined;
    const text = `${JSON.stringify(state)}\n`;
    await replaceFile(this.#statePath, text, { isOurs, maxBytes }).catch((error: unknown) => {
      const foreign = error instanceof LorekeepError && error.code === 'INVALID_ARGUMENT';
      throw foreign ? notOurs(this.#statePath) : error;
    });
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    await this.forget();
  }

  async removeIfEmpty(): Promise<void> {
    const facts = await lstat(this.path).catch(() => undefined);
    if (facts?.isFile() && facts.size === 0) await this.remove();
  }

  /** Whether the file has its final name, and the state of the part still exists. Precondition: there is a file of that name. */
  async isComplete(): Promise<boolean> {
    const part = await nameIdAt(this.path);
    const renamed = part === undefined || part === (await nameIdAt(this.#file));
    return renamed && (await this.#state()) !== undefined;
  }

  /** After the file has its own name and is recorded. A state file that is not ours stays. */
  async forget(): Promise<void> {
    // A process that was killed between the two steps of a rename leaves one file with both names.
    const part = await nameIdAt(this.path);
    if (part !== undefined && part === (await nameIdAt(this.#file))) await rm(this.path, { force: true });
    if ((await this.#state()) !== undefined) await rm(this.#statePath, { force: true });
  }

  async #state(): Promise<PartialState | undefined> {
    return parse(await readRegular(this.#statePath, maxBytes, careful).catch(() => ''));
  }
}

/** Returns undefined for a text that is not ours. */
function parse(text: string): PartialState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function notOurs(path: string): LorekeepError {
  const reason = 'is not part of a download by lorekeep, so it is left as it is; move it away';
  return LorekeepError.about('IO', { file: path, reason: `${basename(path)} ${reason}` });
}
