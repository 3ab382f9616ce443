import { styleText } from 'node:util';
import { hasColours } from '../../log/colours.js';

type Style = Parameters<typeof styleText>[0];

/** Columns assumed for a file or a pipe. */
const defaultWidth = 100;
const narrowest = 20;

/** The capabilities of an output stream. */
export class Screen {
  readonly width: number;
  /** Columns that lines may have: those of a terminal, or of COLUMNS; files and pipes take any number. */
  readonly limit: number;
  readonly isTerminal: boolean;
  /** Whether to use colours. */
  readonly colours: boolean;

  constructor(stream: NodeJS.WriteStream) {
    this.isTerminal = stream.isTTY === true;
    this.colours = hasColours(stream);
    const stated = stream.columns || Number(process.env.COLUMNS);
    this.width = Math.max(narrowest, stated || defaultWidth);
    this.limit = this.isTerminal || stated > 0 ? this.width : Number.POSITIVE_INFINITY;
  }

  style(style: Style, text: string): string {
    return this.colours && text !== '' ? styleText(style, text, { validateStream: false }) : text;
  }

  dim(text: string): string {
    return this.style('dim', text);
  }

  bold(text: string): string {
    return this.style('bold', text);
  }
}
