import { basename, extname } from 'node:path';

interface FormatFacts {
  /** Endings of file names, in small letters. */
  readonly endings: readonly string[];
  /** Names of files without ending, in small letters. */
  readonly names?: readonly string[];
  /** A mapping of columns applies to its files. */
  readonly hasColumns?: boolean;
  /** What to do about a file without text. */
  readonly textRemedy?: string;
  /** Its files are pictures of text, which are read by OCR only. */
  readonly isPicture?: boolean;
}

const words = (text: string) => text.split(' ');

const formats = {
  markdown: { endings: ['.md', '.markdown', '.mkd'] },
  mdx: { endings: ['.mdx'] },
  html: { endings: ['.html', '.htm'] },
  xhtml: { endings: ['.xhtml', '.xht'] },
  text: {
    endings: words('.txt .text .log .properties .tex'),
    names: words(
      'readme license licence copying changelog changes news authors contributors notice todo install makefile dockerfile',
    ),
  },
  yaml: { endings: ['.yaml', '.yml'] },
  settings: { endings: words('.toml .ini .cfg .conf') },
  restructured: { endings: ['.rst', '.rest'] },
  asciidoc: { endings: ['.adoc', '.asciidoc'] },
  org: { endings: ['.org'] },
  json: { endings: ['.json', '.jsonc', '.json5'] },
  notebook: { endings: ['.ipynb'] },
  xml: { endings: ['.xml'] },
  code: {
    endings: words(
      '.py .pyi .js .mjs .cjs .jsx .ts .mts .cts .tsx .java .kt .kts .scala .c .h .cc .cpp .cxx .hh .hpp .cs .go .rs .rb .php .swift .m .mm .lua .r .pl .pm .sh .bash .zsh .ps1 .sql .ex .exs .erl .hs .ml .clj .dart .jl .groovy .gd .zig',
    ),
  },
  word: { endings: ['.docx', '.docm', '.dotx'] },
  spreadsheet: { endings: ['.xlsx', '.xlsm'] },
  presentation: { endings: ['.pptx', '.pptm', '.ppsx'] },
  'open-document': { endings: ['.odt', '.ods', '.odp', '.ott'] },
  epub: { endings: ['.epub'] },
  rtf: { endings: ['.rtf'] },
  mail: { endings: ['.eml'] },
  calendar: { endings: ['.ics', '.vcs'] },
  contacts: { endings: ['.vcf', '.vcard'] },
  mailbox: { endings: ['.mbox', '.mbx'] },
  pdf: { endings: ['.pdf'], textRemedy: 'if its pages are scanned, --ocr reads them' },
  image: { endings: words('.png .jpg .jpeg .tif .tiff .webp .bmp .gif'), isPicture: true },
  'json-lines': { endings: ['.jsonl', '.ndjson'], hasColumns: true },
  csv: { endings: ['.csv'], hasColumns: true },
  tsv: { endings: ['.tsv'], hasColumns: true },
} as const satisfies Record<string, FormatFacts>;

/** How a file is read. */
export type Format = keyof typeof formats;

const entries = Object.entries(formats) as [Format, FormatFacts][];

const byEnding: ReadonlyMap<string, Format> = new Map(
  entries.flatMap(([format, { endings }]) => endings.map((ending): [string, Format] => [ending, format])),
);

const byName: ReadonlyMap<string, Format> = new Map(
  entries.flatMap(([format, { names = [] }]) => names.map((name): [string, Format] => [name, format])),
);

/** Files that programs write for themselves. */
const generated = new Set(['package-lock.json', 'npm-shrinkwrap.json', 'composer.lock', 'pnpm-lock.yaml']);

/** The format that a name promises; undefined for an unknown ending. */
export function formatOf(path: string): Format | undefined {
  const name = basename(path).toLowerCase();
  if (generated.has(name)) return undefined;
  const ending = extname(name);
  return ending === '' ? byName.get(name) : byEnding.get(ending);
}

const factsOf = (path: string): FormatFacts => formats[formatOf(path) ?? 'text'];

/** Whether a file is a picture, which is read by OCR only. */
export function isPicture(path: string): boolean {
  return factsOf(path).isPicture === true;
}

/** Endings of files that are no text. */
const binaryEndings = new Set(
  words(
    '.zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .war .exe .dll .so .dylib .a .o .obj .lib .bin .class .pyc .wasm .node .iso .img .dmg .deb .rpm .apk .mp3 .wav .ogg .flac .m4a .aac .opus .mp4 .mkv .mov .avi .webm .wmv .ico .icns .psd .ai .heic .avif .ttf .otf .woff .woff2 .eot .doc .xls .ppt .msg .pst .mobi .azw3 .db .sqlite .sqlite3 .mdb .parquet .npy .npz .gguf .safetensors .onnx .pt .pth .dat .blend .dwg .key .numbers .pages',
  ),
);

/** Returns the flag of `lorekeep index` that reads files of a kind that is left out; undefined if none does. */
export function flagThatReads(ending: string): string | undefined {
  if (isPicture(`x${ending}`)) return '--ocr';
  if (binaryEndings.has(ending)) return undefined;
  return ending === '' ? '--include NAME' : `--include "*${ending}"`;
}

/** Whether a mapping of columns applies to a file. */
export function hasColumns(path: string): boolean {
  return factsOf(path).hasColumns === true;
}

/** The reason why a file gives no records although it was read. */
export function noTextReason(path: string): string {
  const { textRemedy } = factsOf(path);
  return textRemedy === undefined ? 'has no text' : `has no text; ${textRemedy}`;
}
