/** Makes a PDF of pages, each of lines of text or of a compressed stream of operators. */
export function pdfOf(pages: readonly (readonly string[] | Uint8Array)[], title?: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (...pieces: (string | Uint8Array)[]) => {
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece as Uint8Array)));
    parts.push(bytes);
    length += bytes.length;
  };
  const object = (...pieces: (string | Uint8Array)[]) => {
    offsets.push(length);
    add(`${offsets.length} 0 obj\n`, ...pieces, '\nendobj\n');
  };
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ');
  object('<</Type/Catalog/Pages 2 0 R>>');
  object(`<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`);
  object('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>');
  for (const [at, page] of pages.entries()) {
    const resources = '/Resources<</Font<</F1 3 0 R>>>>';
    object(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${5 + 2 * at} 0 R${resources}>>`);
    if (page instanceof Uint8Array) {
      object(`<</Length ${page.length}/Filter/FlateDecode>>stream\n`, page, '\nendstream');
    } else {
      const lines = page.map((line) => `(${line}) Tj 0 -14 Td`).join(' ');
      const operators = `BT /F1 12 Tf 72 700 Td ${lines} ET`;
      object(`<</Length ${operators.length}>>stream\n${operators}\nendstream`);
    }
  }
  object(`<<${title === undefined ? '' : `/Title(${title})`}>>`);
  const table = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = offsets.length + 1;
  add(`xref\n0 ${size}\n0000000000 65535 f \n${entries}`);
  add(`trailer<</Size ${size}/Root 1 0 R/Info ${offsets.length} 0 R>>\nstartxref\n${table}\n%%EOF\n`);
  return Buffer.concat(parts);
}
