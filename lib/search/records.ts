import { integerArgument, stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { Handle } from '../boundary/handle.js';
import type { FileContent, NativeRecords } from '../boundary/native.js';
import { type CallOptions, callNative } from '../boundary/native-call.js';
import type { FieldDefinition } from './filter.js';

export interface ReadRecordsOptions extends CallOptions {
  /** The records' typed metadata fields. Default: none; metadata is then dropped. */
  fields?: readonly FieldDefinition[] | undefined;
}

/**
 * The records of a JSON file, in native memory. Even gigabytes are read record by record, and texts reach JavaScript only
 * in hits. Storage.fromRecords() creates a storage of them and consumes the content.
 */
export class Records extends Handle<NativeRecords> {
  /**
   * Reads a JSON array of `{id, text, metadata?}`.
   * @throws NOT_FOUND, IO, CORRUPT (not such an array), INVALID_ARGUMENT (invalid records; the message lists the first 20
   * issues with line, record and field, `detail` describes the first), CANCELLED, OUT_OF_MEMORY.
   */
  static async read(path: string, options: ReadRecordsOptions = {}): Promise<Records> {
    const file = stringArgument('path', path);
    return callNative(
      options.signal,
      async (cancel) => new Records(await binding.readRecords(file, options.fields, cancel)),
    );
  }

  /**
   * Opens the records in an index file (VectorIndex.save() with `records`), mapped instead of parsed. They are valid if the
   * fields are the same and the records file has the same size and time as then, or the same content. Otherwise returns
   * the reason why the records file must be read.
   * @throws NOT_FOUND, IO for either file; CORRUPT, UNSUPPORTED for the index file; CANCELLED.
   */
  static async fromIndexFile(
    indexFile: string,
    recordsFile: string,
    options: ReadRecordsOptions = {},
  ): Promise<Records | { reason: string }> {
    const index = stringArgument('indexFile', indexFile);
    const records = stringArgument('recordsFile', recordsFile);
    return callNative(options.signal, async (cancel) => {
      const opened = await binding.openIndexedRecords(index, records, options.fields, cancel);
      return typeof opened === 'string' ? { reason: opened } : new Records(opened);
    });
  }

  get size(): number {
    return this.read((native) => native.size);
  }

  /** 16 hexadecimal digits over the texts and their order. Index files store it. */
  get fingerprint(): string {
    return this.read((native) => native.fingerprint);
  }

  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /** @internal Identity of the records file's content. */
  get content(): FileContent {
    return this.read((native) => native.identity);
  }

  /** Returns the id of the record at a position. @throws INVALID_ARGUMENT beyond size, CLOSED. */
  idOf(ordinal: number): string {
    const checked = integerArgument('ordinal', ordinal, 0, 0, this.size - 1);
    return this.read(() => this.handle.id(checked));
  }
}
