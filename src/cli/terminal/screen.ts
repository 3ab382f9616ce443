import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Columns assumed for a file or a pipe. */
const defaultWidth = 100;
const narrowest = 20;

/** The capabilities of an output stream. */
export class Screen {
  readonly width: number;
  readonly isTerminal: boolean;
  /** Whether to use colours: the terminal has them, and NO_COLOR is unset. */
  readonly colours: boolean;

  constructor(stream: NodeJS.WriteStream) {
    this.isTerminal = stream.isTTY === true;
    // getColorDepth() respects NO_COLOR, FORCE_COLOR and TERM=dumb.
    this.colours = this.isTerminal && stream.getColorDepth() > 1;
    this.width = Math.max(narrowest, stream.columns || Number(process.env.COLUMNS) || defaultWidth);
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
