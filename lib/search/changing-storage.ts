/** The part of Storage that changes records: batches, versions, merges. */
import { booleanArgument, integerArgument } from '../boundary/arguments.js';
import { Handle } from '../boundary/handle.js';
import type { NativeCancelToken, NativeStorage } from '../boundary/native.js';
import type { CallOptions } from '../boundary/native-call.js';
import { BackgroundMerges } from './background-merges.js';
import type { LoggedChanges } from './change-log.js';
import { formerRecords, idsPerCall, type OlderVersion } from './former-records.js';
import { type ConvertedBatch, storageBatch } from './storage-batch.js';
import type {
  ForgetOptions,
  MergingState,
  StorageChanges,
  StorageVersion,
  UpdateResult,
  VersionLimits,
} from './storage-changes.js';
import { idsArgument } from './stored-records.js';
import type { TextIndex } from './text-index.js';

/** `Version`: the class of a storage at one version. */
export abstract class ChangingStorage<Version extends OlderVersion> extends Handle<NativeStorage> {
  readonly #merges = new BackgroundMerges(
    () => !this.closed && this.native.merging().due,
    // One thread: searches and turns keep the others.
    (signal) => this.run(signal, (native, cancel) => native.merge(false, 1, cancel)),
  );
  #latestWrite: Promise<unknown> = Promise.resolve();

  /** Returns a storage for a version of this one. */
  protected abstract atVersion(native: NativeStorage): Version;

  override async close(): Promise<void> {
    const paused = this.#merges.pause();
    await Promise.all([paused, super.close()]);
  }

  /** The newest version: 0 for a storage as it was built, and one more with each batch. */
  get version(): number {
    return this.read((native) => native.version);
  }

  /** All versions that can be read: older ones that keepVersions() keeps, then the newest. */
  versions(): StorageVersion[] {
    return this.read((native) => native.versions());
  }

  /** Sets how many older versions are kept. @throws INVALID_ARGUMENT */
  keepVersions({ count, bytes, age }: VersionLimits): void {
    const most = Number.MAX_SAFE_INTEGER;
    const limits = [
      integerArgument('count', count, 0, 0, most),
      integerArgument('bytes', bytes, 2 ** 28, 0, most),
      integerArgument('age', age, most, 0, most),
    ] as const;
    this.read((native) => native.keep(...limits));
  }

  /** Returns the newest version as a storage that stays as it is: update() of it rejects with UNSUPPORTED. Close it. */
  pin(): Version {
    return this.atVersion(this.read((native) => native.pin()));
  }

  /** Returns a version like pin(). @throws VERSION_GONE unless it is kept */
  at(version: number): Version {
    const number = integerArgument('version', version, 0, 0, Number.MAX_SAFE_INTEGER);
    return this.atVersion(this.read((native) => native.pin(number)));
  }

  /** @internal Closes a pinned version without waiting. */
  release(): void {
    this.native.release();
  }

  /**
   * Applies one batch of changes whole, or not at all. `vectors` has a row for each record of `add`, then of `replace`. Batches are
   * applied in the order of the calls; searches go on meanwhile. Parts that batches leave are merged in the background.
   * @throws RECORD_EXISTS, RECORD_MISSING, DUPLICATE_ID, VERSION_MISMATCH; INVALID_ARGUMENT, DIMENSION_MISMATCH, OUT_OF_MEMORY,
   * CLOSED, CANCELLED; UNSUPPORTED for a pinned version
   */
  update(
    changes: StorageChanges,
    vectors?: Float32Array | undefined,
    { signal }: CallOptions = {},
  ): Promise<UpdateResult> {
    return this.#write(signal, async (native, cancel) =>
      this.#apply(await storageBatch(native, changes, vectors, signal), cancel),
    );
  }

  /** @internal Converts a batch for applyConverted(), which refuses only what depends on the version. @throws as update() */
  convert(
    changes: StorageChanges,
    vectors: Float32Array,
    { signal }: CallOptions = {},
  ): Promise<ConvertedBatch> {
    return this.run(signal, (native) => storageBatch(native, changes, vectors, signal));
  }

  /** @internal As update(). */
  applyConverted(batch: ConvertedBatch): Promise<UpdateResult> {
    return this.#write(undefined, (_, cancel) => this.#apply(batch, cancel));
  }

  async #apply(batch: ConvertedBatch, cancel: NativeCancelToken | undefined): Promise<UpdateResult> {
    const result = await batch(cancel);
    if (result.added + result.replaced + result.removed > 0) this.#merges.start();
    return result;
  }

  /**
   * @internal Applies the effect of logged batches, after which the storage has `version`, made at `time`. Consumes the changes.
   * `words`: the text index of their texts, if there is one. @throws as update(); INVALID_ARGUMENT for an index of other texts
   */
  applyLogged(
    changes: LoggedChanges,
    version: number,
    { signal, time, words }: CallOptions & { time?: number | undefined; words?: TextIndex | undefined } = {},
  ): Promise<UpdateResult> {
    return this.#write(signal, async (native, cancel) => {
      const at = time === undefined ? undefined : Math.max(0, Math.trunc(time));
      const result = await native.applyLogged(changes.handle, version, at, words?.handle, cancel);
      this.#merges.start();
      return result;
    });
  }

  /**
   * @internal Takes the newest version of a storage that was loaded from later files of this one, in the order of the writes. Older
   * versions go: their records may have been forgotten since. @throws INVALID_ARGUMENT unless that version is later
   */
  adopt(later: ChangingStorage<OlderVersion>): Promise<void> {
    return this.#write(undefined, async (native) => native.adopt(later.handle));
  }

  /** @internal States when the newest version was made, in milliseconds since 1970. */
  setTime(ms: number): void {
    this.read((native) => native.setTime(Math.max(0, Math.trunc(ms))));
  }

  /** @internal Returns the ids that records have, of at most 10,000. */
  known(ids: readonly string[], { signal }: CallOptions = {}): Promise<string[]> {
    return this.run(signal, async (native, cancel) => {
      const ordinals = await native.find(idsArgument(ids), cancel);
      return ids.filter((_, index) => (ordinals[index] as number) >= 0);
    });
  }

  /** @internal The embeddings of all records, row-major. */
  embeddings({ signal }: CallOptions = {}): Promise<Float32Array> {
    return this.runPinned(signal, (native, cancel) =>
      native.rows(
        Uint32Array.from({ length: native.size }, (_, ordinal) => ordinal),
        cancel,
      ),
    );
  }

  /**
   * Removes records from the newest version and from every version that is kept, and overwrites the memory of their texts. Takes as
   * long as a merge of the parts with these records. Pinned versions hold them until they are closed. If it fails after the records
   * were removed, call it again with `missingIsFine`. A record that only older versions have is forgotten, too.
   * @throws RECORD_MISSING, DUPLICATE_ID; as update()
   */
  forget(ids: readonly string[], options: ForgetOptions = {}): Promise<UpdateResult> {
    const { signal } = options;
    const given = idsArgument(ids);
    const missingIsFine = booleanArgument('missingIsFine', options.missingIsFine, false);
    return this.#write(signal, async (native, cancel) => {
      const former = missingIsFine ? [] : await this.#formerAlone(ids, signal);
      const result = await native.forget(given, missingIsFine || former.length > 0, cancel);
      return former.length === 0 ? result : { ...result, removed: result.removed + former.length };
    });
  }

  /** @internal Forgets what ids named before their records were removed or replaced: the records of the newest version stay. @throws as forget() */
  async forgetFormer(ids: readonly string[], { signal }: CallOptions = {}): Promise<void> {
    const given = idsArgument(ids);
    await this.#write(signal, (native, cancel) => native.forgetFormer(given, cancel));
  }

  /** Returns the ids that only older versions have; none if an id is in no version, or twice in the list. */
  async #formerAlone(ids: readonly string[], signal: AbortSignal | undefined): Promise<string[]> {
    if (this.versions().length === 1 || new Set(ids).size < ids.length) return [];
    const now = new Set<string>();
    for (let begin = 0; begin < ids.length; begin += idsPerCall)
      for (const id of await this.known(ids.slice(begin, begin + idsPerCall), { signal })) now.add(id);
    const gone = ids.filter((id) => !now.has(id));
    if (gone.length === 0) return [];
    const former = new Set((await formerRecords(this, gone, signal)).map(({ id }) => id));
    return former.size === gone.length ? gone : [];
  }

  /** Merges all parts into one. Changes no version. @throws OUT_OF_MEMORY, CORRUPT, CLOSED, CANCELLED */
  async merge({ signal }: CallOptions = {}): Promise<void> {
    await this.run(signal, (native, cancel) => native.merge(true, 0, cancel));
  }

  /** The state of background merges. */
  get merging(): MergingState {
    const { due, ...facts } = this.read((native) => native.merging());
    const { running, paused, failure } = this.#merges;
    const state = running ? 'running' : due ? 'due' : 'idle';
    return { state, paused, ...facts, ...(failure instanceof Error && { failure }) };
  }

  /** Stops background merges; a running one ends without effect. Resolves once none runs. */
  pauseMerging(): Promise<void> {
    return this.#merges.pause();
  }

  /** Lets background merges run again. */
  resumeMerging(): void {
    this.#merges.resume();
  }

  /** Runs writers one after another. */
  #write<T>(
    signal: AbortSignal | undefined,
    call: (native: NativeStorage, cancel: NativeCancelToken | undefined) => Promise<T>,
  ): Promise<T> {
    const before = this.#latestWrite;
    const next = this.run(signal, async (native, cancel) => {
      await before;
      return call(native, cancel);
    });
    this.#latestWrite = next.catch(() => undefined);
    return next;
  }

  /** Runs a call of several steps on one version, so that ordinals keep their meaning. */
  protected runPinned<T>(
    signal: AbortSignal | undefined,
    call: (native: NativeStorage, cancel: NativeCancelToken | undefined) => Promise<T>,
  ): Promise<T> {
    return this.run(signal, async (native, cancel) => {
      const pinned = native.pin();
      try {
        return await call(pinned, cancel);
      } finally {
        pinned.release();
      }
    });
  }
}
