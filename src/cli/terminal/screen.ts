import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Columns when nobody says how many there are: a file or a pipe. */
const defaultWidth = 100;
const narrowest = 20;

/** What a stream can show. */
export class Screen {
  readonly width: number;
  readonly isTerminal: boolean;
  /** Whether colours are wanted: a terminal that has them, NO_COLOR unset. */
  readonly colours: boolean;

  constructor(stream: NodeJS.WriteStream) {
    this.isTerminal = stream.isTTY === true;
    // getColorDepth() heeds NO_COLOR, FORCE_COLOR and TERM=dumb.
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
