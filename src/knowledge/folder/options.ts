import { booleanArgument, integerArgument, refuse } from '../../../lib/internal.js';
import type { WalkOptions } from '../../documents/files/walk.js';
import { type ColumnType, columnTypes, type TableMapping } from '../../documents/tables/mapping.js';
import type { KnowledgeLog } from '../log.js';
import type { ModelSource } from '../model.js';
import { checkOptionNames, type OptionNames } from '../option-names.js';
import type { ProgressListener } from '../progress.js';

export interface IndexFolderOptions extends WalkOptions {
  /** The folder with the documents. */
  folder: string;
  /** Gives the embedding model; as of openKnowledgeBase(). */
  models: ModelSource;
  /**
   * Catalog name of the embedding model. Default: that of the index; for a new one "all-MiniLM-L6-v2", or a model that knows many
   * languages if many texts are not English.
   */
  model?: string | undefined;
  /** Columns of CSV files and keys of JSON Lines. */
  mapping?: TableMapping | undefined;
  /** Maximum number of characters of a chunk, with its headings. 200 to 100,000, default 1,200; a chunk also fits the model's context. */
  chunkSize?: number | undefined;
  /**
   * Days for which embeddings are kept at least after their texts are gone, as of an edited or deleted file or an unmounted folder. 0 to
   * 3,650; 0 keeps none. Default 30.
   */
  keepEmbeddings?: number | undefined;
  /** true: pictures, and pages of PDFs without text, are read by tesseract, if it is installed. Default: false. */
  ocr?: boolean | undefined;
  /** Languages of the scans: codes of tesseract joined by "+", such as "eng+deu". Default: English if it is installed. */
  ocrLanguage?: string | undefined;
  /** true: only the main text of web pages is indexed, as a browser's reader view shows it. Default: false. */
  readability?: boolean | undefined;
  /** Folder for the config, the records and the indexes. Default: one for each folder in the user's data folder. */
  output?: string | undefined;
  /** true: texts that were forgotten are indexed again, where files have them. Default: false. */
  forgotten?: boolean | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
  /** Told of the steps of each phase, in order. */
  onProgress?: ProgressListener | undefined;
}

/** Options that decide about the content of an index. folder.json has them, so that another command can repeat the run. */
export type RepeatedOptions = Pick<
  IndexFolderOptions,
  | 'model'
  | 'include'
  | 'exclude'
  | 'gitignore'
  | 'mapping'
  | 'chunkSize'
  | 'keepEmbeddings'
  | 'ocr'
  | 'ocrLanguage'
  | 'readability'
>;

/** Returns those that are set. */
export function repeatedOptions(options: RepeatedOptions): RepeatedOptions {
  const { model, include, exclude, gitignore, mapping, chunkSize, keepEmbeddings } = options;
  const { ocr, ocrLanguage, readability } = options;
  const content = { model, include, exclude, gitignore, mapping, chunkSize, ocr, ocrLanguage, readability };
  const given = Object.entries({ ...content, keepEmbeddings });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

export const defaultModel = 'all-MiniLM-L6-v2';

/** Chosen on collections that are not the reported ones: docs/guides/indexing.md. */
export const chunking = { size: 1200, overlap: 0 } as const;

const known: OptionNames<IndexFolderOptions> = {
  folder: true,
  models: true,
  model: true,
  include: true,
  exclude: true,
  gitignore: true,
  mapping: true,
  chunkSize: true,
  keepEmbeddings: true,
  ocr: true,
  ocrLanguage: true,
  readability: true,
  output: true,
  forgotten: true,
  signal: true,
  log: true,
  onProgress: true,
};

const knownMapping: OptionNames<TableMapping> = { text: true, title: true, id: true, fields: true };

/** Names of metadata that every chunk has. */
export const ownFields = ['path', 'title', 'heading', 'page', 'mtime'] as const;

/** Fields that are milliseconds since 1970, UTC. */
export const timeFields: ReadonlySet<string> = new Set(['mtime', 'sent', 'starts', 'ends']);

/** Metadata of documents that state it, such as front matter. A column may have the name and the type. */
export const documentFields = {
  description: 'string',
  tags: 'set<string>',
  aliases: 'set<string>',
  lines: 'string',
  symbol: 'string',
  from: 'string',
  to: 'string',
  sent: 'int',
  thread: 'string',
  starts: 'int',
  ends: 'int',
} as const satisfies Record<string, ColumnType>;

/** @throws INVALID_ARGUMENT that names the option */
export function checkIndexOptions(options: IndexFolderOptions): void {
  checkOptionNames(options, known, 'indexing a folder');
  const { folder, include, exclude, gitignore, mapping, chunkSize, output, model } = options;
  requireText('folder', folder);
  for (const [field, value] of Object.entries({ output, model })) {
    if (value !== undefined) requireText(field, value);
  }
  for (const [field, value] of Object.entries({ include, exclude })) {
    if (value === undefined) continue;
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
      refuse(field, 'an array of patterns is expected');
    const blank = value.findIndex((item) => item.trim() === '');
    if (blank >= 0) refuse(`${field}[${blank}]`, 'the pattern is blank: it matches nothing');
  }
  booleanArgument('gitignore', gitignore, true);
  booleanArgument('forgotten', options.forgotten, false);
  booleanArgument('readability', options.readability, false);
  checkScans(options);
  integerArgument('chunkSize', chunkSize, chunking.size, 200, 100_000);
  integerArgument('keepEmbeddings', options.keepEmbeddings, 30, 0, 3650);
  if (mapping !== undefined) checkMapping(mapping);
}

/** Names of languages, and of scripts such as script/Latin. */
const languageCodes = /^[A-Za-z][\w/-]{1,40}(?:\+[A-Za-z][\w/-]{1,40}){0,15}$/;

function checkScans({ ocr, ocrLanguage }: IndexFolderOptions): void {
  const isRead = booleanArgument('ocr', ocr, false);
  if (ocrLanguage === undefined) return;
  if (typeof ocrLanguage !== 'string' || !languageCodes.test(ocrLanguage))
    refuse('ocrLanguage', 'codes of languages joined by "+" are expected, such as "eng+deu"');
  if (!isRead) refuse('ocrLanguage', 'it has no effect without `ocr` (--ocr)');
}

function checkMapping(mapping: TableMapping): void {
  checkOptionNames(mapping, knownMapping, 'a mapping', 'mapping.');
  const { text, title, id, fields = {} } = mapping;
  const texts = text === undefined ? [] : [text].flat();
  if (text !== undefined && texts.length === 0) refuse('mapping.text', 'at least one column is expected');
  for (const name of texts) requireText('mapping.text', name);
  if (title !== undefined) requireText('mapping.title', title);
  if (id !== undefined) requireText('mapping.id', id);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    refuse('mapping.fields', 'an object of columns and types is expected');
  for (const [name, type] of Object.entries(fields)) {
    const field = `mapping.fields.${name}`;
    if ((ownFields as readonly string[]).includes(name))
      refuse(field, 'every chunk has a field of this name');
    if (!(columnTypes as readonly unknown[]).includes(type))
      refuse(field, `one of ${columnTypes.join(', ')} is expected, not ${JSON.stringify(type)}`);
    const stated = Object.entries(documentFields).find(([other]) => other === name)?.[1];
    if (stated !== undefined && stated !== type)
      refuse(field, `${stated} is expected: documents have a field of this name`);
  }
}

function requireText(field: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') refuse(field, 'a text is expected');
}
