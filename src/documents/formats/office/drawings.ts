import { relations, relationsPath, resolvedTarget } from './relations.js';
import { readElements } from './xml-events.js';
import type { ZipArchive } from './zip.js';

/** Most values of a chart that are read. */
const mostValues = 5000;

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Returns the texts of a chart, a diagram or another drawing; [] for a part of another type. `type` is that of the relation to it. */
export function textsOfDrawing(zip: ZipArchive, part: string, type: string): string[] {
  if (/\/chart(?:Ex)?$/.test(type)) return chartTexts(zip.text(part));
  if (/\/diagramData$/.test(type)) return paragraphs(zip.text(part));
  if (/\/drawing$/.test(type)) return [...paragraphs(zip.text(part)), ...textsOfDrawings(zip, part)];
  return [];
}

/** Returns the texts of the drawings that a part refers to. */
export function textsOfDrawings(zip: ZipArchive, part: string): string[] {
  return [...relations(zip.text(relationsPath(part))).values()].flatMap(({ type, target }) =>
    textsOfDrawing(zip, resolvedTarget(part, target), type),
  );
}

/** The paragraphs of the text boxes of a drawing. */
function paragraphs(xml: string | undefined): string[] {
  const found: string[] = [];
  let parts: string[] = [];
  let inText = false;
  let hidden = 0;
  readElements(xml, {
    open(name) {
      if (name === 'mc:Fallback') hidden++;
      else if (name === 'a:t') inText = hidden === 0;
      else if (name === 'a:br' || name === 'a:tab') parts.push(' ');
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      if (name === 'mc:Fallback') hidden--;
      else if (name === 'a:t') inText = false;
      else if (name === 'a:p') {
        const text = spaced(parts.join(''));
        parts = [];
        if (text !== '') found.push(text);
      }
    },
  });
  return found;
}

/** The kept values of a series, by their index. */
interface Series {
  tx: string[];
  cat: string[];
  val: string[];
}

/** The titles of a chart, and a line for each series: its name, and its values with their categories. */
function chartTexts(xml: string | undefined): string[] {
  const series: Series[] = [];
  let [at, count, inValue, role]: [number, number, boolean, keyof Series | undefined] = [
    0,
    0,
    false,
    undefined,
  ];
  readElements(xml, {
    open(name, { idx }) {
      if (name === 'c:ser') series.push({ tx: [], cat: [], val: [] });
      else if (name === 'c:tx') role = 'tx';
      else if (name === 'c:cat' || name === 'c:xVal') role = 'cat';
      else if (name === 'c:val' || name === 'c:yVal') role = 'val';
      else if (name === 'c:pt') at = Number(idx);
      else if (name === 'c:v') inValue = count++ < mostValues;
    },
    text(text) {
      const values = role === undefined || !inValue ? undefined : series.at(-1)?.[role];
      if (values !== undefined && at >= 0 && at < mostValues) values[at] = (values[at] ?? '') + text;
    },
    close(name) {
      if (name === 'c:v') inValue = false;
      else if (name === 'c:pt') at = 0;
      else if (/^c:(?:tx|cat|xVal|val|yVal)$/.test(name)) role = undefined;
    },
  });
  const lines = series.map(({ tx, cat, val }) => {
    const values = Array.from(val, (value, index) => spaced(`${cat[index] ?? ''} ${value ?? ''}`));
    const name = spaced(tx.join(' '));
    return `${name}${name !== '' && values.length > 0 ? ': ' : ''}${values.filter((text) => text !== '').join(', ')}`;
  });
  return [...paragraphs(xml), ...lines.filter((line) => line !== '')];
}
