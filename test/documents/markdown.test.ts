import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { readMarkdown } from '../../src/documents/formats/markdown/markdown.js';
import { markdownParser } from '../../src/documents/formats/markdown/parser.js';
import { worstMarkdown } from '../helpers/worst-markdown.mjs';

const sections = (text: string) => [...(readMarkdown(text).sections as readonly Section[])];
const blocks = (text: string) => sections(text).flatMap((section) => section.blocks);
const texts = (text: string) => blocks(text).map((block) => block.text);
const headings = (text: string) => sections(text).map((section) => section.headings.join(' > '));

describe('headings', () => {
  test('of both kinds have their paths and their anchors', () => {
    const text =
      '# The Guide\n\nIntro.\n\n## Install ##\n\nOne.\n\n### From source\n\nTwo.\n\nUsage\n-----\n\nThree.\n\n## Install\n\nFour.\n';
    expect(readMarkdown(text).title).toBe('The Guide');
    expect(
      sections(text).map((section) => [section.headings, section.anchor, section.blocks[0]?.text]),
    ).toEqual([
      [[], 'the-guide', 'Intro.'],
      [['Install'], 'install', 'One.'],
      [['Install', 'From source'], 'from-source', 'Two.'],
      [['Usage'], 'usage', 'Three.'],
      [['Install'], 'install-1', 'Four.'],
    ]);
  });

  test('lose the id and the classes that generators of sites take', () => {
    const text = '# Guide {#guide}\n\n## Set up {: .step #setup }\n\nx\n\n## A set {a, b}\n\ny\n';
    expect(readMarkdown(text).title).toBe('Guide');
    expect(sections(text).map(({ headings }) => headings)).toEqual([['Set up'], ['A set {a, b}']]);
  });

  test('that look like numbered ones have different anchors', () => {
    const anchors = sections('## a\nx\n## a-1\nx\n## a\nx\n## a\nx\n## !\nx\n').map(({ anchor }) => anchor);
    expect(anchors).toEqual(['a', 'a-1', 'a-2', 'a-3', 'section']);
  });

  test('of level 1 are siblings if there are several, and then no title', () => {
    const diary = '# Monday\n\nRain.\n\n## Evening\n\nFog.\n\n# Tuesday\n\nSun.\n';
    expect(readMarkdown(diary).title).toBeUndefined();
    expect(headings(diary)).toEqual(['Monday', 'Monday > Evening', 'Tuesday']);
    const titled = `---\ntitle: Diary\n---\n${diary}`;
    expect(readMarkdown(titled).title).toBe('Diary');
    expect(headings(titled)).toEqual(['Monday', 'Monday > Evening', 'Tuesday']);
  });

  test('without text are lines of the part above them, or of a part beside it', () => {
    const text =
      '# Changes\n\n## 2.0\n\n### drops the shim\n\n### adds frames\n\n## 1.9\n\nFixes.\n\n## 1.8\n';
    expect(
      sections(text).map((section) => [
        section.headings.join(' > '),
        ...section.blocks.map((block) => block.text),
      ]),
    ).toEqual([
      ['2.0', 'drops the shim', 'adds frames'],
      ['1.9', 'Fixes.'],
      ['', '1.8'],
    ]);
    expect(texts('# Only a title\n')).toEqual(['Only a title']);
    expect(texts('# Title\n\n## A\n\nText.')).toEqual(['Text.']);
  });

  test('in items and in quotes count', () => {
    expect(
      headings('1. ```sh\n   make\n   ```\n\n## After the code\n\nText.\n\n> ## Quoted\n>\n> More.'),
    ).toEqual(['', 'After the code', 'Quoted']);
  });
});

describe('blocks', () => {
  test('code is kept as it is: no heading, no list and no mark in it counts', () => {
    const code = '# no heading\n- no *item*\n\n    [x](y)';
    const [block, after] = blocks(`~~~~js title\n${code}\n~~~\n~~~~\n\nAfter.`);
    expect(block).toEqual({ kind: 'code', text: `${code}\n~~~`, head: 'js' });
    expect(after?.text).toBe('After.');
    expect(blocks('A fence that is never closed:\n```\na\n\nb')[1]).toEqual({
      kind: 'code',
      text: 'a\n\nb',
      head: '',
    });
    expect(blocks('Text.\n\n    indented\n      code\n\nText.')[1]).toEqual({
      kind: 'code',
      text: 'indented\n  code',
      head: '',
    });
  });

  test('a line that begins with three backticks and has more of them is text', () => {
    expect(texts('```npm test``` runs the tests.\n\nAfter.')).toEqual(['npm test runs the tests.', 'After.']);
  });

  test('items and rows are taken one by one, with the head of the table', () => {
    const text =
      '- one\n  goes on\n\n* two\n\n3. three\n4. four\n\n| a | b |\n|---|:-:|\n| 1 | `x` |\n| 2 | **y** |\n| 3 |\n';
    expect(blocks(text)).toEqual([
      { kind: 'item', text: '- one goes on' },
      { kind: 'item', text: '* two' },
      { kind: 'item', text: '3. three' },
      { kind: 'item', text: '4. four' },
      { kind: 'row', text: '1 | x', head: 'a | b' },
      { kind: 'row', text: '2 | y', head: 'a | b' },
      { kind: 'row', text: '3 | ', head: 'a | b' },
    ]);
    expect(blocks('Berths:\n| a | b |\n|---|---|\n| 1 | 2 |').map(({ kind }) => kind)).toEqual([
      'prose',
      'row',
    ]);
    expect(texts('| Only | a head |\n|---|---|\n')).toEqual(['Only | a head']);
    expect(blocks('| a \\| b | `x\\|y` |\n|---|---|\n| 1 | c:\\| |\n')[0]).toEqual({
      kind: 'row',
      text: '1 | c:|',
      head: 'a | b | x|y',
    });
  });

  test('HTML is shown as a browser shows it', () => {
    const text =
      '<h2 align="center">Harbour</h2>\n\n<details><summary>More</summary>\n\n*Fuel* is sold.\n\n</details>\n\n<div hidden>\n\nDraft.\n\n</div>\n\n<!-- no -->\n\n<table><tr><th>a<th>b</tr><tr><td>\n\n**1**\n\n</td><td></td></tr></table>\n\nEnd.';
    expect(headings(text)).toEqual(['Harbour']);
    expect(texts(text)).toEqual(['More', 'Fuel is sold.', '1 | ', 'End.']);
  });

  test('notes stand below the block that refers to them', () => {
    const text =
      '## A\n\nThe lamp[^l] burns.\n\n## B\n\nText.\n\n[^l]: Of 1890,\n    and heavy.\n[^m]: Nobody refers to it.';
    expect(sections(text).map((section) => section.blocks.map((block) => block.text))).toEqual([
      ['The lamp[l] burns.', '[l] Of 1890, and heavy.'],
      ['Text.', '[m] Nobody refers to it.'],
    ]);
  });

  test('blocks that are nested too deeply keep their text', () => {
    expect(texts(`${'> '.repeat(300)}deep`).join(' ')).toContain('deep');
    expect(texts(`${'- '.repeat(300)}deep`).join(' ')).toContain('deep');
  });
});

describe('text', () => {
  test.each([
    ['a [link](https://x.y/z_(1) "title") here', 'a link here'],
    ['[![badge](b.svg)](https://x)', 'badge'],
    ['[text][ref] and <https://a.b>\n\n[ref]: https://x.y', 'text and https://a.b'],
    ['**bold**, *it*, ~~gone~~, 5 * 3 * 2, a*b', 'bold, it, gone, 5 * 3 * 2, a*b'],
    ['`[not](a link)` and `**`', '[not](a link) and **'],
    ['a<br>b <b>tag</b> goes', 'a b tag goes'],
    ['__init__.py and snake_case and x**kwargs', 'init.py and snake_case and x**kwargs'],
    ['lib/**/*.c and 0 */6 * * 1', 'lib/**/*.c and 0 */6 * * 1'],
    ['sum(*) and a * b', 'sum(*) and a * b'],
    ['\\*not emphasis\\*', '*not emphasis*'],
    ['Use the <script> tag', 'Use the <script> tag'],
    ['&copy; &#65; AT&T', '© A AT&T'],
  ])('%s', (marked, plain) => expect(texts(marked)).toEqual([plain]));

  test('has no embedded files, as pictures, definitions or HTML', () => {
    const data = `data:image/png;base64,${'iVBORw0KGgo/'.repeat(700)}`;
    const text = `![A map](${data})\n\n![Plan][p]\n\n<img src="${data}">\n\nRaw ${data} here.\n\n[p]: <${data}>\n`;
    expect(texts(text)).toEqual(['A map', 'Plan', 'Raw  here.']);
  });
});

describe('front matter', () => {
  test('of a note without text is found by its title', () => {
    expect(texts('---\ntitle: Tide tables\n---\n')).toEqual(['Tide tables']);
    expect(texts('---\ntitle: Tide tables\n---\nHigh at six.\n')).toEqual(['High at six.']);
    expect(texts('---\ndate: 2026-01-01\n---\n')).toEqual([]);
  });

  test('gives title, description, tags and aliases in YAML, as metadata and as text', () => {
    const text =
      '---\ntitle: >-\n  Lamps and\n  lenses\ndescription: "How they: work"\ntags: [optics, 1890]\naliases:\n  - Leuchtfeuer\ndraft: true\n---\n# Lamps and lenses\n\nText.';
    const { title, metadata } = readMarkdown(text);
    expect(title).toBe('Lamps and lenses');
    expect(metadata).toEqual({
      description: 'How they: work',
      tags: ['optics', '1890'],
      aliases: ['Leuchtfeuer'],
    });
    expect(texts(text)).toEqual(['How they: work', 'Aliases: Leuchtfeuer', 'Tags: optics, 1890', 'Text.']);
    expect(headings(text)).toEqual(['']);
  });

  test('may be TOML, and YAML with a mistake', () => {
    const toml = '+++\r\ntitle = "The bees"\r\ntags = ["a", "b"]\r\n+++\r\n\r\nText.';
    expect(readMarkdown(toml)).toMatchObject({ title: 'The bees', metadata: { tags: ['a', 'b'] } });
    expect(texts(toml).at(-1)).toBe('Text.');
    const mistake = '---\ntitle: Bees: a study\n---\nText.';
    expect(readMarkdown(mistake).title).toBe('Bees: a study');
    expect(texts(mistake)).toEqual(['Text.']);
  });

  test('is none where a text stands between two rules', () => {
    const text = '---\nThe lamp, as it was: repaint it.\n\n* and more\n---\n\nThe fund.';
    expect(readMarkdown(text).metadata).toBeUndefined();
    expect(texts(text).join(' ')).toContain('repaint it.');
    expect(texts('---\n\nA rule above.\n').join('')).toBe('A rule above.');
  });

  test('cannot hang or crash the reader', () => {
    const aliases = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
    for (const yaml of ['['.repeat(20_000), '{a: '.repeat(10_000), ['a0: &a0 x', ...aliases].join('\n')])
      expect(texts(`---\n${yaml}\n---\nText.`).join(' ')).toContain('Text.');
  });
});

/** Calls of the parser's rules while it reads a text, and the blocks that come of it: the same on every machine. */
function workOf(text: string): number {
  const parser = markdownParser();
  let calls = 0;
  const { block, inline, core } = parser;
  for (const ruler of [core.ruler, block.ruler, inline.ruler, inline.ruler2]) {
    const { __rules__: rules } = ruler as unknown as {
      __rules__: { name: string; fn: (...given: unknown[]) => unknown; alt: string[] }[];
    };
    for (const { name, fn, alt } of [...rules]) {
      const counted = (...given: unknown[]) => {
        calls++;
        return fn(...given);
      };
      (ruler.at as (name: string, fn: unknown, options: object) => void)(name, counted, { alt });
    }
  }
  const tokens = parser.parse(text, {});
  return calls + tokens.reduce((sum, { children }) => sum + 1 + (children?.length ?? 0), 0);
}

// bench/quality/markdown.mjs measures the time of these texts.
test.each(Object.entries(worstMarkdown))('%s take work in proportion to their length', (_name, text) => {
  const size = 15_000;
  // At most 2.5 times for each doubling.
  expect(workOf(text(4 * size))).toBeLessThanOrEqual(workOf(text(size)) * 2.5 ** 2);
  // The reader ends, too.
  blocks(text(4 * size));
});

test('every block rule of the parser is tried after the limit of nesting', () => {
  expect(markdownParser().block.ruler.getRules('')[0]?.name).toBe('tooDeep');
});
