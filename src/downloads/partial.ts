import { type FileHandle, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const stateSchema = z.object({ url: z.string(), etag: z.string(), total: z.int() });

/** What a partial file is a part of. */
export type PartialState = z.output<typeof stateSchema>;

/** `FILE.part` with the bytes so far, and `FILE.part.json` with what they belong to. */
export class Partial {
  readonly path: string;
  readonly #statePath: string;

  constructor(file: string) {
    this.path = `${file}.part`;
    this.#statePath = `${file}.part.json`;
  }

  /** Opens the bytes so far. Without a readable state they belong to nothing and are dropped. */
  async open(url: string): Promise<{ file: FileHandle; state: PartialState | undefined; length: number }> {
    const file = await open(this.path, 'a+', 0o644);
    const state = await this.#state();
    const { size } = await file.stat();
    // Without a strong ETag nothing says that the next bytes are of the same file.
    if (state?.url === url && state.etag !== '' && size <= state.total) return { file, state, length: size };
    await file.truncate(0);
    return { file, state: undefined, length: 0 };
  }

  /** Written before the first byte, so that bytes never stand without it. */
  async begin(file: FileHandle, state: PartialState): Promise<void> {
    await rm(this.#statePath, { force: true });
    await file.truncate(0);
    await writeFile(this.#statePath, `${JSON.stringify(state)}\n`);
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    await this.forget();
  }

  async removeIfEmpty(): Promise<void> {
    const facts = await stat(this.path).catch(() => undefined);
    if (facts?.size === 0) await this.remove();
  }

  /** After the file has its own name. */
  forget(): Promise<void> {
    return rm(this.#statePath, { force: true });
  }

  async #state(): Promise<PartialState | undefined> {
    try {
      return stateSchema.parse(JSON.parse(await readFile(this.#statePath, 'utf8')));
    } catch {
      return undefined;
    }
  }
}
