import { type Block, type Document, type Section, UnreadableDocument } from '../../document.js';
import { readElements, relations, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Reads a PowerPoint presentation: a section per slide, with its notes. @throws UnreadableDocument */
export function readPresentation(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const main = zip.text('ppt/presentation.xml');
  if (main === undefined) throw new UnreadableDocument('is not a presentation');
  const targets = relations(zip.text('ppt/_rels/presentation.xml.rels'));
  const slides: string[] = [];
  readElements(main, {
    open: (name, attributes) => {
      const target = name === 'p:sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined) slides.push(`ppt/${target.replace(/^(?:\/ppt\/|\.\/)/, '')}`);
    },
  });
  const sections = slides.map((path, at): Section => {
    const page = at + 1;
    const { heading, blocks } = slideOf(zip.text(path));
    const links = relations(zip.text(path.replace(/([^/]+)$/, '_rels/$1.rels')));
    const notes = [...links.values()].find((target) => target.includes('notesSlide'));
    const noted = notes === undefined ? [] : slideOf(zip.text(`ppt/${notes.replace(/^\.\.\//, '')}`)).blocks;
    const headings = heading === '' ? [] : [heading.slice(0, longestHeading)];
    const all = [...blocks, ...noted];
    // A slide with a title alone is found by it.
    const shown: Block[] = all.length > 0 || heading === '' ? all : [{ kind: 'prose', text: heading }];
    return { headings, anchor: `slide=${page}`, page, blocks: shown };
  });
  return { title: textOf(zip.text('docProps/core.xml'), 'dc:title'), sections };
}

const longestHeading = 200;

function slideOf(xml: string | undefined): { heading: string; blocks: Block[] } {
  const blocks: Block[] = [];
  let heading = '';
  let parts: string[] = [];
  let inText = false;
  let kind = '';
  readElements(xml, {
    open(name, attributes) {
      if (name === 'p:sp') kind = '';
      else if (name === 'p:ph') kind = attributes.type ?? 'body';
      else if (name === 'a:t') inText = true;
      else if (name === 'a:br' || name === 'a:tab') parts.push(' ');
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      if (name === 'a:t') inText = false;
      if (name !== 'a:p') return;
      const text = parts.join('').replace(/\s+/g, ' ').trim();
      parts = [];
      if (text === '' || /^(?:sldNum|dt|ftr)$/i.test(kind)) return;
      if (kind === 'title' || kind === 'ctrTitle') heading = heading === '' ? text : `${heading} ${text}`;
      else blocks.push({ kind: 'item', text });
    },
  });
  return { heading, blocks };
}
