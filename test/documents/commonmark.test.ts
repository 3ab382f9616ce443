/** The examples of the CommonMark specification: visible text and headings equal those of the reference renderer. */
import { HtmlRenderer, Parser as ReferenceParser } from 'commonmark';
import { tests as examples } from 'commonmark-spec';
import { Parser } from 'htmlparser2';
import { expect, test } from 'vitest';
import type { Block } from '../../src/documents/document.js';
import { readMarkdown } from '../../src/documents/formats/markdown/markdown.js';
import { SectionBuilder } from '../../src/documents/formats/section-builder.js';

interface Shown {
  headings: string[];
  /** Without spaces. */
  text: string;
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Records what a reader gives in place of building sections. */
class Recorder extends SectionBuilder {
  readonly shown: Shown = { headings: [], text: '' };

  override add({ kind, text }: Block): void {
    // The reader puts marks before items, as a browser does.
    const plain = kind === 'item' ? text.replace(/^(?:[-*+]|\d{1,9}[.)]) /, '') : text;
    this.shown.text += plain.replace(/\s/g, '');
  }

  override heading(_level: number, text: string): void {
    if (text.trim() === '') return;
    this.shown.headings.push(spaced(text));
    this.shown.text += text.replace(/\s/g, '');
  }
}

function shownOf(markdown: string): Shown {
  const recorder = new Recorder();
  readMarkdown(markdown, recorder);
  return recorder.shown;
}

/** What a browser shows of HTML. An image shows its alternative text. */
function shownOfHtml(html: string): Shown {
  const shown: Shown = { headings: [], text: '' };
  let heading: string | undefined;
  let hidden = 0;
  const show = (text: string) => {
    if (hidden > 0) return;
    shown.text += text.replace(/\s/g, '');
    if (heading !== undefined) heading += text;
  };
  const parser = new Parser({
    onopentag(name, { alt = '' }) {
      if (/^(?:script|style|textarea)$/.test(name)) hidden++;
      if (/^h[1-6]$/.test(name)) heading = '';
      if (name === 'img') show(alt);
    },
    ontext: show,
    onclosetag(name) {
      if (/^(?:script|style|textarea)$/.test(name)) hidden--;
      if (!/^h[1-6]$/.test(name)) return;
      if (heading?.trim()) shown.headings.push(spaced(heading));
      heading = undefined;
    },
  });
  parser.write(html);
  parser.end();
  return shown;
}

test('there are the 650 examples', () => expect(examples.length).toBeGreaterThanOrEqual(650));

test.each(examples.map(({ number, section, markdown }) => [number, section, markdown] as const))(
  'example %i (%s)',
  (_number, _section, source) => {
    const markdown = source.replaceAll('→', '\t');
    const html = new HtmlRenderer().render(new ReferenceParser().parse(markdown));
    expect(shownOf(markdown)).toEqual(shownOfHtml(html));
  },
);
