import { UnreadableDocument } from '../document.js';
import { MissingProgram, type ProgramEnd, type ProgramLimits, runProgram } from './program.js';
import { mostAtOnce, type Recognizer, type Scan } from './scan.js';

/** Bounds of one picture. */
const limits: ProgramLimits = { ms: 120_000, bytes: 3 * 2 ** 30, outputBytes: 2 ** 20 };

/** Bounds of the drawing of one page. */
const drawing: ProgramLimits = { ms: 60_000, bytes: 2 * 2 ** 30, outputBytes: 64 * 2 ** 20 };

/** The longer side of a drawn page in pixels: A4 at 300 dots per inch. */
const longestSide = 3508;

/** Dots per inch that tesseract assumes for a drawn page. */
const resolution = 300;

/** Packages that have the programs, for Debian and its relatives; other systems have them by these names, too. */
const installed = (name: string) => `apt install ${name}; on macOS: brew install ${name.replace(/-.*$/, '')}`;

/** Reads scans by tesseract, and draws pages of PDFs by pdftoppm: programs of the system that the user installs if needed. */
export class Tesseract implements Recognizer {
  readonly #language: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #chosen: Promise<string> | undefined;

  /** `language`: codes of tesseract joined by "+". Default: English if it is installed, else the first that is. */
  constructor(language: string | undefined, signal: AbortSignal | undefined) {
    this.#language = language;
    this.#signal = signal;
  }

  /** @throws UnreadableDocument; the signal's reason */
  async recognize(scan: Scan): Promise<string[]> {
    this.#chosen ??= this.#chooseLanguage();
    const language = await this.#chosen;
    await this.#begin();
    try {
      const isPage = scan.kind === 'page';
      const picture = isPage ? await this.#drawn(scan.bytes, scan.page) : checkedImage(scan.bytes);
      const options = ['-l', language, ...(isPage ? ['--dpi', `${resolution}`] : [])];
      const text = (
        await this.#run(['tesseract', 'stdin', 'stdout', ...options], picture, limits)
      ).toString();
      return pagesOf(text);
    } finally {
      this.#end();
    }
  }

  /** Draws a page in shades of grey. */
  #drawn(bytes: Uint8Array, page: number): Promise<Buffer> {
    const range = ['-f', `${page}`, '-l', `${page}`, '-singlefile'];
    return this.#run(['pdftoppm', ...range, '-gray', '-scale-to', `${longestSide}`, '-'], bytes, drawing);
  }

  async #chooseLanguage(): Promise<string> {
    const listed = await this.#run(['tesseract', '--list-langs'], undefined, limits);
    const languages = listed
      .toString()
      .split(/\r?\n/)
      .slice(1)
      .filter((name) => name !== '');
    const wanted = this.#language?.split('+') ?? [];
    const missing = wanted.find((name) => !languages.includes(name));
    if (missing !== undefined)
      throw unread(
        `tesseract has no language ${JSON.stringify(missing)}: ${installed(`tesseract-ocr-${missing.replaceAll('_', '-')}`)}`,
        'tesseract',
      );
    const usual = languages.includes('eng') ? 'eng' : languages.find((name) => name !== 'osd');
    const chosen = this.#language ?? usual;
    if (chosen === undefined)
      throw unread(`tesseract has no language: ${installed('tesseract-ocr-eng')}`, 'tesseract');
    return chosen;
  }

  async #run(command: [string, ...string[]], input: Uint8Array | undefined, bounds: ProgramLimits) {
    const [name] = command;
    const end = await runProgram(command, input, bounds, this.#signal).catch((error: unknown) => {
      if (!(error instanceof MissingProgram)) throw error;
      throw unread(`OCR needs ${name}: ${installed(packages[name] ?? name)}`, name);
    });
    if (end.status === 0 && end.stopped === undefined) return end.output;
    throw unread(failure(name, end, bounds));
  }

  async #begin(): Promise<void> {
    if (this.#running >= mostAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}

const packages: Readonly<Record<string, string>> = {
  tesseract: 'tesseract-ocr',
  pdftoppm: 'poppler-utils',
};

const unread = (reason: string, missing?: string) =>
  new UnreadableDocument(reason, missing === undefined ? {} : { missing });

function failure(name: string, { status, said, stopped }: ProgramEnd, { ms }: ProgramLimits): string {
  if (stopped === 'time') return `${name} takes more than ${ms / 1000} s`;
  if (stopped === 'output') return `${name} gives too much`;
  const line = said.split('\n').at(-1)?.trim().slice(0, 200);
  if (line) return `${name} cannot read it: ${line}`;
  return status === undefined ? `${name} was killed` : `${name} cannot read it`;
}

/** First bytes of the images that tesseract reads. It takes other files for lists of files to open. */
const beginnings = ['89504e470d0a1a0a', 'ffd8ff', '49492a00', '4d4d002a', '424d', '47494638', '52494646'];

function checkedImage(bytes: Uint8Array): Uint8Array {
  const begin = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  if (beginnings.some((known) => begin.startsWith(known))) return bytes;
  throw unread('is not an image of a kind that is read');
}

/** Each page ends with a form feed. */
function pagesOf(text: string): string[] {
  const pages = text.split('\f');
  if (pages.length > 1 && (pages.at(-1) as string).trim() === '') pages.pop();
  return pages.map((page) => page.trim());
}
