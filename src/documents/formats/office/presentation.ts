import { type Block, type Document, type Section, UnreadableDocument } from '../../document.js';
import { textsOfDrawings } from './drawings.js';
import { tableRows } from './flow.js';
import { relations, relationsPath, resolvedTarget } from './relations.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

const mainPart = 'ppt/presentation.xml';

/** Reads a PowerPoint presentation: a section per slide, with its notes. Hidden slides are named. @throws UnreadableDocument */
export function readPresentation(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const main = zip.text(mainPart);
  if (main === undefined) throw new UnreadableDocument('is not a presentation');
  const targets = relations(zip.text(relationsPath(mainPart)));
  const slides: string[] = [];
  readElements(main, {
    open: (name, attributes) => {
      const found = name === 'p:sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (found !== undefined) slides.push(resolvedTarget(mainPart, found.target));
    },
  });
  const hidden: number[] = [];
  const sections = slides.flatMap((path, at): Section[] => {
    const page = at + 1;
    const { heading, blocks, isHidden } = slideOf(zip.text(path));
    if (isHidden) {
      hidden.push(page);
      return [];
    }
    const headings = heading === '' ? [] : [heading.slice(0, longestHeading)];
    const all = [...blocks, ...besideSlide(zip, path)];
    // A slide with a title alone is found by it.
    const shown: Block[] = all.length > 0 || heading === '' ? all : [{ kind: 'prose', text: heading }];
    return [{ headings, anchor: `slide=${page}`, page, blocks: shown }];
  });
  const named = hidden.slice(0, mostNamed).join(', ') + (hidden.length > mostNamed ? ' and others' : '');
  const problems =
    hidden.length === 0
      ? []
      : [hidden.length === 1 ? `slide ${named} is hidden` : `slides ${named} are hidden`];
  return { title: textOf(zip.text('docProps/core.xml'), 'dc:title'), sections, problems };
}

const longestHeading = 200;

/** Hidden slides that a message names. */
const mostNamed = 20;

/** The texts of the charts and diagrams of a slide, and its notes. */
function besideSlide(zip: ZipArchive, path: string): Block[] {
  const drawings = textsOfDrawings(zip, path).map((text): Block => ({ kind: 'item', text }));
  const notes = [...relations(zip.text(relationsPath(path))).values()]
    .filter(({ type }) => /\/notesSlide$/.test(type))
    .flatMap(({ target }) => slideOf(zip.text(resolvedTarget(path, target))).blocks);
  return [...drawings, ...notes];
}

/** Another form of what stands beside it. */
const unseen = 'mc:Fallback';

function slideOf(xml: string | undefined): { heading: string; blocks: Block[]; isHidden: boolean } {
  const blocks: Block[] = [];
  let heading = '';
  let parts: string[] = [];
  let inText = false;
  let kind = '';
  let isHidden = false;
  let hidden = 0;
  let rows: string[][] | undefined;
  let cell: string[] | undefined;
  const endParagraph = () => {
    const text = parts.join('').replace(/\s+/g, ' ').trim();
    parts = [];
    if (text === '' || /^(?:sldNum|dt|ftr|hdr)$/i.test(kind)) return;
    if (cell !== undefined) cell.push(text);
    else if (kind === 'title' || kind === 'ctrTitle') heading = heading === '' ? text : `${heading} ${text}`;
    else blocks.push({ kind: 'item', text });
  };
  readElements(xml, {
    open(name, attributes) {
      if (name === unseen) hidden++;
      if (name === 'p:sld') isHidden = /^(?:0|false)$/.test(attributes.show ?? '');
      else if (name === 'p:sp' || name === 'p:graphicFrame') kind = '';
      else if (name === 'p:ph') kind = attributes.type ?? 'body';
      else if (name === 'a:t') inText = hidden === 0;
      else if (name === 'a:br' || name === 'a:tab') parts.push(' ');
      else if (name === 'a:tbl') rows = [];
      else if (name === 'a:tr') rows?.push([]);
      else if (name === 'a:tc') cell = [];
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      if (name === unseen) hidden--;
      else if (name === 'a:t') inText = false;
      else if (name === 'a:p') endParagraph();
      else if (name === 'a:tc') {
        rows?.at(-1)?.push((cell ?? []).join(' '));
        cell = undefined;
      } else if (name === 'a:tbl') {
        for (const row of tableRows(rows ?? [])) blocks.push(row);
        rows = undefined;
      }
    },
  });
  return { heading, blocks, isHidden };
}
