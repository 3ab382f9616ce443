// A table as data, {title, columns, rows, note?}, and its two forms: aligned columns for a terminal, Markdown for the docs.
//
// A column is {key, label, digits?}: numbers have `digits` decimals, or about three significant digits. What a row lacks is a
// dash; a row {name, failed} says so in place of its numbers.

const absent = '-';

/** About three significant digits, never an exponent: 12345, 123, 12.3, 1.23, 0.123. */
function formatNumber(value, digits) {
  if (!Number.isFinite(value)) return absent;
  if (digits !== undefined) return value.toFixed(digits);
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  if (size >= 1 || size === 0) return value.toFixed(2);
  return value.toFixed(Math.min(6, 2 - Math.floor(Math.log10(size))));
}

function cellsOf(row, columns) {
  return columns.map(({ key, digits }, at) => {
    if (row.failed !== undefined && at > 0) return at === 1 ? `failed: ${row.failed}` : '';
    const value = row[key];
    if (value === undefined || value === null) return absent;
    return typeof value === 'number' ? formatNumber(value, digits) : String(value);
  });
}

/** Text to the left, numbers to the right, two spaces between columns. */
export function terminalTable({ title, columns, rows, note }) {
  const head = columns.map(({ label }) => label);
  const body = rows.map((row) => cellsOf(row, columns));
  const numeric = columns.map(({ key }) => rows.some((row) => typeof row[key] === 'number'));
  // The reason of a failed row runs on over the columns after it.
  const measured = [head, ...body.filter((_, i) => rows[i].failed === undefined)];
  const widths = columns.map((_, at) => {
    const names = at === 0 ? [head, ...body] : measured;
    return Math.max(...names.map((cells) => cells[at].length));
  });
  const line = (cells) =>
    cells
      .map((cell, at) =>
        numeric[at] && !cell.startsWith('failed') ? cell.padStart(widths[at]) : cell.padEnd(widths[at]),
      )
      .join('  ')
      .trimEnd();
  const lines = [title, line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(line)];
  if (note) lines.push(note);
  return lines.join('\n');
}

export function markdownTable({ columns, rows, note }) {
  const numeric = columns.map(({ key }) => rows.some((row) => typeof row[key] === 'number'));
  const cells = (list) => `| ${list.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  const lines = [
    cells(columns.map(({ label }) => label)),
    cells(numeric.map((right) => (right ? '--:' : '---'))),
    ...rows.map((row) => cells(cellsOf(row, columns))),
  ];
  if (note) lines.push('', note);
  return lines.join('\n');
}
