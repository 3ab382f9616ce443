declare module 'commonmark-spec' {
  /** The examples of the specification. An arrow stands for a tab. */
  export const tests: { markdown: string; html: string; section: string; number: number }[];
}

declare module 'commonmark' {
  export class Parser {
    parse(markdown: string): unknown;
  }
  export class HtmlRenderer {
    render(document: unknown): string;
  }
}
