import { EmbeddingModel } from '../../../lib/internal.js';
import type { Fits } from '../../documents/chunks.js';
import { estimatedTokens } from '../../models/remote/token-estimate.js';
import type { TextEmbedder } from '../embedder.js';
import { factsOf, type KnowledgeModel, withModel } from '../model.js';
import type { FileEntry } from './manifest.js';
import { chunking, type IndexFolderOptions } from './options.js';
import { ReadingThread, readingShare } from './reading/reading-thread.js';
import { type KnownFile, type RecordSink, readRecords, type ScannedFile, scan } from './scan.js';

/** Increased when the same file gives other chunks. */
const chunkerVersion = 9;

/** Finds the files of a folder and makes records of them that fit an embedding model. */
export class FolderReader implements AsyncDisposable {
  readonly #folder: string;
  readonly #options: IndexFolderOptions;
  readonly #model: KnowledgeModel;
  readonly #thread: ReadingThread;
  /** Tokens of a document without text. */
  #prefixTokens: number | undefined;

  constructor(folder: string, options: IndexFolderOptions, model: KnowledgeModel) {
    this.#folder = folder;
    this.#options = options;
    this.#model = model;
    const { ocr = false, ocrLanguage: language, readability, signal } = options;
    this.#thread = new ReadingThread(signal, readingShare, ocr ? { language } : undefined, readability);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread.close();
  }

  /** Everything besides the files that the records depend on. */
  get settings(): string {
    const { mapping, chunkSize = chunking.size, ocr = false, ocrLanguage = '' } = this.#options;
    const { fingerprint, contextSize } = factsOf(this.#model);
    const { documentPrefix = '' } = this.#model;
    return JSON.stringify([
      chunkerVersion,
      chunkSize,
      chunking.overlap,
      mapping ?? {},
      fingerprint,
      contextSize,
      documentPrefix,
      ...(ocr ? ['ocr', ocrLanguage] : []),
      ...(this.#options.readability ? ['readability'] : []),
    ]);
  }

  /** Finds the files and compares them with what is known of them. @throws system errors for the folder itself; the signal's reason */
  scan<Known extends KnownFile>(last: ReadonlyMap<string, Known>) {
    return scan(this.#thread, this.#folder, this.#options, last);
  }

  /** Reads a file and gives its records to `sink`. @throws the signal's reason, errors of the sink */
  read(file: Pick<ScannedFile, 'path' | 'stamp' | 'mtime' | 'bytes'>, sink: RecordSink): Promise<FileEntry> {
    const { chunkSize = chunking.size, mapping, signal } = this.#options;
    return readRecords(file, sink, {
      folder: this.#folder,
      thread: this.#thread,
      mapping,
      chunking: { size: chunkSize, overlap: chunking.overlap },
      fits: (text) => this.#fits(text),
      signal,
    });
  }

  /** A token has at least one byte, so a text with few bytes fits. */
  #fits(text: string): ReturnType<Fits> {
    const { documentPrefix = '' } = this.#model;
    const whole = documentPrefix + text;
    const special = 3;
    const fits = async (model: TextEmbedder) => {
      // An embedder of the caller's own has no context and sees whole texts; a remote model counts no tokens.
      const { contextSize } = model.facts;
      if (!(model instanceof EmbeddingModel))
        return contextSize === 0 || estimatedTokens(whole) <= contextSize ? 'fits' : 'too long';
      // Every vocabulary has tokens for these.
      if (Buffer.byteLength(whole) + special <= contextSize && /[a-z0-9]/i.test(text)) return 'fits';
      const tokens = await model.countTokens(whole);
      this.#prefixTokens ??= await model.countTokens(documentPrefix);
      if (tokens <= this.#prefixTokens) return 'no tokens';
      return tokens <= contextSize ? 'fits' : 'too long';
    };
    return withModel(this.#model, fits, this.#options.signal);
  }
}
