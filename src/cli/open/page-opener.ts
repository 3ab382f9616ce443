import { pathToFileURL } from 'node:url';
import { codeValidMs, type OpenPage } from '../../doors/page/entry.js';
import { openInBrowser } from './browser.js';
import { writeOpeningFile } from './opening-file.js';

interface PageOpenerOptions {
  /** Whether the browser is opened. */
  readonly opens: boolean;
  tell(text: string): void;
}

/** Opens the page in a browser, and says how to. */
export class PageOpener {
  readonly #page: OpenPage;
  readonly #options: PageOpenerOptions;

  constructor(page: OpenPage, options: PageOpenerOptions) {
    this.#page = page;
    this.#options = options;
  }

  /** Each call makes a file that works once. */
  async open(): Promise<void> {
    const { opens, tell } = this.#options;
    const file = writeOpeningFile(this.#page);
    const opened = opens && (await openInBrowser(file));
    const { href } = pathToFileURL(file);
    const minutes = codeValidMs / 60_000;
    tell(
      `${opened ? 'if no browser opens, ' : ''}open this file in a browser within ${minutes} minutes: ${href}`,
    );
  }
}
