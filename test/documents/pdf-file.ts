/** A page of a test PDF: lines of text, a compressed stream of operators, or operators with the fonts and forms that they use. */
export type TestPage =
  | readonly string[]
  | Uint8Array
  | { operators: string; fonts?: string; annotations?: string };

/** Makes a PDF of pages. The object `n` of `extra` has the number `extraObject(pages, n)`. */
export function pdfOf(pages: readonly TestPage[], title?: string, extra: readonly string[] = []): Buffer {
  const file = new PdfFile();
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ');
  file.object('<</Type/Catalog/Pages 2 0 R>>');
  file.object(`<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`);
  file.object('<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>');
  for (const [at, page] of pages.entries()) {
    const { fonts = '', annotations = '' } = 'operators' in page ? page : {};
    const facts = `/Resources<</Font<</F1 3 0 R${fonts}>>>>${annotations}`;
    file.object(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${5 + 2 * at} 0 R${facts}>>`);
    if (page instanceof Uint8Array)
      file.object(`<</Length ${page.length}/Filter/FlateDecode>>stream\n`, page, '\nendstream');
    else file.object(streamOf('operators' in page ? page.operators : linesAt(72, 700, page)));
  }
  for (const body of extra) file.object(body);
  return file.end(title);
}

/** The number of an extra object of pdfOf(). */
export const extraObject = (pages: number, index: number) => 4 + 2 * pages + index;

/** A stream as the body of an object. */
export const streamOf = (content: string) =>
  `<</Length ${Buffer.byteLength(content, 'latin1')}>>stream\n${content}\nendstream`;

/** Operators that write lines from a place downwards. */
export function linesAt(x: number, y: number, lines: readonly string[]): string {
  const shown = lines.map((line) => `(${line}) Tj 0 -14 Td`).join(' ');
  return `BT /F1 12 Tf ${x} ${y} Td ${shown} ET`;
}

class PdfFile {
  readonly #parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  readonly #offsets: number[] = [];
  #length = 9;

  object(...pieces: (string | Uint8Array)[]): void {
    this.#offsets.push(this.#length);
    this.#add(`${this.#offsets.length} 0 obj\n`, ...pieces, '\nendobj\n');
  }

  end(title: string | undefined): Buffer {
    this.object(`<<${title === undefined ? '' : `/Title(${title})`}>>`);
    const table = this.#length;
    const entries = this.#offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
    const count = this.#offsets.length;
    this.#add(`xref\n0 ${count + 1}\n0000000000 65535 f \n${entries}`);
    this.#add(`trailer<</Size ${count + 1}/Root 1 0 R/Info ${count} 0 R>>\nstartxref\n${table}\n%%EOF\n`);
    return Buffer.concat(this.#parts);
  }

  #add(...pieces: (string | Uint8Array)[]): void {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : Buffer.from(piece);
      this.#parts.push(bytes);
      this.#length += bytes.length;
    }
  }
}
