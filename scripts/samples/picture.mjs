// The picture of README.md: a terminal in which real commands have run, drawn as SVG from what they print.

const noBreak = String.fromCharCode(160);
const escapeCode = String.fromCharCode(27);
const sgr = new RegExp(`(${escapeCode}\\[[\\d;]*m)`);
const codesIn = new RegExp(`^${escapeCode}\\[([\\d;]*)m$`);

/** Pixels of a character, of a line, and around the text. */
const cell = { width: 7.8, height: 19, margin: 16 };

const colours = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#f2cc60',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

/** Returns an SVG of the lines; SGR codes of the output become colours and weights. `columns`: the terminal's width. */
export function terminalPicture(output, columns) {
  const lines = output.trimEnd().split('\n');
  const width = Math.ceil(columns * cell.width + 2 * cell.margin);
  const height = lines.length * cell.height + 2 * cell.margin;
  const rows = lines.map((line, i) => {
    const y = cell.margin + (i + 0.75) * cell.height;
    return `<text x="${cell.margin}" y="${y.toFixed(1)}">${spans(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A terminal: a folder is indexed and searched</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
${rows.join('\n')}
</g>
</svg>
`;
}

/** Returns the text of such a picture. */
export function textOfPicture(svg) {
  const rows = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, row]) => row.replace(/<[^>]*>/g, ''));
  return rows
    .join('\n')
    .replaceAll(noBreak, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function spans(line) {
  let style = {};
  return line
    .split(sgr)
    .map((piece) => {
      const codes = codesIn.exec(piece)?.[1];
      if (codes === undefined) return styled(escaped(piece), style);
      for (const code of codes.split(';')) style = afterCode(style, Number(code));
      return '';
    })
    .join('');
}

function afterCode(style, code) {
  if (code === 0) return {};
  if (code === 1) return { ...style, weight: 'bold' };
  if (code === 2) return { ...style, fill: colours[90] };
  if (code === 22) return { fill: style.fill === colours[90] ? undefined : style.fill };
  return { ...style, fill: colours[code] };
}

function styled(text, { fill, weight }) {
  if (text === '' || (fill === undefined && weight === undefined)) return text;
  const colour = fill === undefined ? '' : ` fill="${fill}"`;
  return `<tspan${colour}${weight === undefined ? '' : ` font-weight="${weight}"`}>${text}</tspan>`;
}

/** Renderers join spaces, but not no-break spaces. */
function escaped(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(' ', noBreak);
}
