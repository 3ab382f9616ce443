// Draws a chart of lines as one SVG: panels side by side, each series labelled at its end instead of in a legend. Colours follow
// the reader's light or dark setting, on a background of its own, so that it can be read on any page.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

const panelHeight = 360;
const width = { single: 620, several: 330 };
const margin = { top: 48, right: 18, bottom: 48, left: 58 };
const labelRoom = 150;
const head = 58;
const lineHeight = 15;
/** Labels further apart than this across do not touch. */
const labelReach = 120;

/** Legible on white and on near-black. A program has its colour in every chart. */
const ours = ['#e8590c', '#d6336c', '#b0892a'];
const known = {
  'hnswlib-node': '#4c8fd6',
  'usearch f32': '#2b9c72',
  'usearch f16': '#a06bd0',
  'usearch i8': '#b0892a',
  LanceDB: '#7a8794',
};
const others = ['#4c8fd6', '#a06bd0', '#2b9c72', '#7a8794', '#b0892a'];

const style = `
svg { color: #1f2328; font-family: system-ui, sans-serif; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3; } .page { fill: #0d1117; } }`;

/** @param chart as chartsOf() gives it. @returns the SVG's text */
export function drawLineChart({ title, caption, x, y, panels }) {
  const colours = colourOf(panels);
  const plotWidth = panels.length > 1 ? width.several : width.single;
  const drawn = panels.map((panel, at) => {
    // Panels of the same series are read against one another, so their heights mean the same.
    const alike = panels.filter((other) => sameSeries(panel, other));
    const heights = alike.flatMap(({ series }) =>
      series.flatMap(({ points }) => points.map(({ y: high }) => Math.log10(high))),
    );
    const labelled = at === panels.length - 1 || !sameSeries(panel, panels.at(-1));
    return {
      svg: drawPanel(panel, { x, y, heights, colours, plotWidth, labelled }),
      width: plotWidth + (labelled ? labelRoom : 0),
    };
  });
  const total = drawn.reduce((sum, { width: one }) => sum + one, 0);
  const height = head + panelHeight;
  const parts = [];
  let left = 0;
  for (const { svg, width: one } of drawn) {
    parts.push(`<g transform="translate(${left} ${head})">${svg}</g>`);
    left += one;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${height}" width="${total}" height="${height}" role="img" aria-label="${escapeXml(title)}" color="#1f2328" font-family="system-ui, sans-serif" fill="currentColor">
<title>${escapeXml(title)}</title>
<style>${style}</style>
<rect class="page" width="${total}" height="${height}" fill="#ffffff"/>
<text x="16" y="26" font-size="17" font-weight="600">${escapeXml(title)}</text>
<text x="16" y="46" font-size="12.5" opacity="0.75">${escapeXml(caption)}</text>
${parts.join('\n')}
</svg>
`;
}

function drawPanel({ title, series }, { x, y, heights, colours, plotWidth, labelled }) {
  const { document } = parseHTML('<html><body></body></html>');
  const lines = series.map(({ name, points: list }) => ({
    name,
    points: list.map((point) => placed(point, x)),
  }));
  const points = lines.flatMap(({ name, points: list }) => list.map((point) => ({ name, ...point })));
  const plot = Plot.plot({
    document,
    width: plotWidth + (labelled ? labelRoom : 0),
    height: panelHeight,
    marginTop: margin.top,
    marginBottom: margin.bottom,
    marginLeft: margin.left,
    marginRight: margin.right + (labelled ? labelRoom : 0),
    x: {
      ...axis(
        x,
        points.map((point) => point.x),
      ),
      labelAnchor: 'center',
      labelOffset: 38,
      label: x.label,
    },
    y: {
      ...axis(y, heights),
      grid: true,
      label: null,
    },
    color: { domain: [...colours.keys()], range: [...colours.values()] },
    marks: [
      Plot.line(points, { x: 'x', y: 'y', z: 'name', stroke: 'name', strokeWidth: widthOf }),
      Plot.dot(points, { x: 'x', y: 'y', fill: 'name', r: 2.8 }),
    ],
  });
  if (labelled) addLabels(document, plot, lines, colours);
  // Plot's style element says what the page has said already.
  const marks = plot.innerHTML.replace(/<style>[\s\S]*?<\/style>/, '');
  const above = (at, text, look) =>
    `<text x="${margin.left - 30}" y="${at}" text-anchor="start" ${look}>${escapeXml(text)}</text>`;
  const heading = above(14, title, 'font-weight="600"') + above(34, y.label, 'opacity="0.75"');
  return `<g text-anchor="middle" font-size="12">${heading}${marks}</g>`;
}

const widthOf = ({ name }) => (isOwn(name) ? 3 : 1.6);

// Plot leaves out labels of logarithmic axes as it sees fit, so it is given logarithms and the ticks that a reader can count by.
const placed = (point, { linear }) => ({ x: linear ? point.x : Math.log10(point.x), y: Math.log10(point.y) });

/** An axis a little wider than the values, which are logarithms unless it is linear. */
function axis({ ticks, tickFormat = shortNumber, reverse = false, linear = false }, values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.04 * (most - least), 0.02);
  const domain = [least - room, most + room];
  if (linear) return { domain };
  const shown = (ticks ?? countableTicks(10 ** domain[0], 10 ** domain[1]))
    .map(Math.log10)
    .filter((tick) => tick >= domain[0] && tick <= domain[1]);
  return {
    domain: reverse ? domain.reverse() : domain,
    ticks: shown,
    tickFormat: (tick) => tickFormat(10 ** tick),
  };
}

/** 1, 2 and 5 times the powers of ten; the powers alone where there are many. Multiples of one of them where fewer than two fit. */
function countableTicks(least, most) {
  const powers = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++) powers.push(10 ** power);
  const ticks = powers.length > 4 ? powers : powers.flatMap((power) => [power, 2 * power, 5 * power]);
  return ticks.filter((tick) => tick >= least && tick <= most).length < 2 ? multiples(least, most) : ticks;
}

/** Two to five multiples of 1, 2 or 5 times a power of ten. */
function multiples(least, most) {
  const power = 10 ** Math.floor(Math.log10(most - least));
  const fitting = (step) => Math.floor(most / step) - Math.ceil(least / step) + 1;
  const step = [5, 2, 1, 0.5, 0.2].map((times) => times * power).find((step) => fitting(step) >= 2);
  const first = Math.ceil(least / step);
  return Array.from({ length: fitting(step) }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

function shortNumber(value) {
  const rounded = Number(value.toPrecision(3));
  if (rounded >= 1e6) return `${rounded / 1e6}M`;
  return rounded >= 1e4 ? `${rounded / 1e3}k` : String(rounded);
}

/** A name at the end of each line; names that would touch are moved apart. */
function addLabels(document, plot, series, colours) {
  const [xScale, yScale] = [plot.scale('x'), plot.scale('y')];
  const labels = series.map(({ name, points }) => {
    const ends = points.map((point) => ({ name, x: xScale.apply(point.x), y: yScale.apply(point.y) }));
    return ends.reduce((right, end) => (end.x > right.x ? end : right));
  });
  for (const { name, x, y } of spread(labels)) {
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    text.setAttribute('x', x + 9);
    text.setAttribute('y', y + 4);
    text.setAttribute('text-anchor', 'start');
    text.setAttribute('fill', colours.get(name));
    text.setAttribute('font-size', '12.5');
    if (isOwn(name)) text.setAttribute('font-weight', '700');
    text.textContent = name;
    plot.append(text);
  }
}

/** From the top down, each label at least a line below those beside it. */
export function spread(labels) {
  const placed = [];
  for (const label of [...labels].sort((a, b) => a.y - b.y)) {
    const above = placed.filter(({ x }) => Math.abs(x - label.x) < labelReach).map(({ y }) => y + lineHeight);
    placed.push({ ...label, y: Math.max(label.y, ...above) });
  }
  return placed;
}

const isOwn = (name) => name.startsWith('lorekeep');
const sameSeries = (a, b) =>
  a.series.map(({ name }) => name).join() === b.series.map(({ name }) => name).join();

function colourOf(panels) {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))];
  const own = names.filter(isOwn);
  const unknown = names.filter((name) => !isOwn(name) && !programOf(name));
  const colours = new Map(own.map((name, at) => [name, ours[at % ours.length]]));
  for (const name of names) {
    if (!isOwn(name))
      colours.set(name, known[programOf(name)] ?? others[unknown.indexOf(name) % others.length]);
  }
  return colours;
}

const programOf = (name) => Object.keys(known).find((program) => name.startsWith(program));

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
