import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { plainInline } from '../../src/documents/formats/inline.js';
import { readMarkdown } from '../../src/documents/formats/markdown.js';

const sections = (text: string) => [...(readMarkdown(text).sections as readonly Section[])];
const blocks = (text: string) => sections(text).flatMap((section) => section.blocks);

describe('readMarkdown', () => {
  test('finds headings of both kinds, their paths and their anchors', () => {
    const text = `# The Guide

Intro.

## Install ##

One.

### From source

Two.

Usage
-----

Three.

## Install

Four.
`;
    const { title } = readMarkdown(text);
    expect(title).toBe('The Guide');
    expect(
      sections(text).map(({ headings, anchor, blocks: [block] }) => [headings, anchor, block?.text]),
    ).toEqual([
      [[], 'the-guide', 'Intro.'],
      [['Install'], 'install', 'One.'],
      [['Install', 'From source'], 'from-source', 'Two.'],
      [['Usage'], 'usage', 'Three.'],
      [['Install'], 'install-1', 'Four.'],
    ]);
  });

  test('anchors stay different where a heading looks like a numbered one', () => {
    const anchors = sections('## a\nx\n## a-1\nx\n## a\nx\n## a\nx\n## !\nx\n').map(({ anchor }) => anchor);
    expect(anchors).toEqual(['a', 'a-1', 'a-2', 'a-3', 'section']);
  });

  test('splits the rows of tables at bars that no backslash escapes', () => {
    expect(blocks('| a \\| b | `x\\|y` |\n|---|---|\n| 1 | c:\\| |\n')[0]).toEqual({
      kind: 'row',
      text: '1 | c:|',
      head: 'a | b | `x|y`',
    });
  });

  test('takes the title from front matter in YAML and in TOML, and leaves the rest of it out', () => {
    for (const text of [
      '---\ntitle: "The bees"\ndraft: true\n---\n',
      '+++\r\ntitle = "The bees"\r\ndraft = true\r\n+++\r\n',
    ]) {
      expect(readMarkdown(text).title).toBe('The bees');
      expect(blocks(`${text}\nText.`)).toEqual([{ kind: 'prose', text: 'Text.' }]);
    }
  });

  test('keeps code as it is: no heading, no list and no mark in it counts', () => {
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

  test('takes list items and rows of tables one by one, with the head of the table', () => {
    const text = '- one\n  goes on\n* two\n3. three\n\n| a | b |\n|---|:-:|\n| 1 | `x` |\n| 2 | **y** |\n';
    expect(blocks(text)).toEqual([
      { kind: 'item', text: '- one goes on' },
      { kind: 'item', text: '* two' },
      { kind: 'item', text: '3. three' },
      { kind: 'row', text: '1 | `x`', head: 'a | b' },
      { kind: 'row', text: '2 | y', head: 'a | b' },
    ]);
  });

  test('drops front matter but its title, comments, rules and definitions of links', () => {
    const text =
      '---\ntitle: "A name"\ntags: [x]\n---\n<!-- a\nb -->\nText.\n\n***\n\n[ref]: https://x.y\n\n> Quoted\n> on.';
    expect(readMarkdown(text).title).toBe('A name');
    expect(blocks(text).map((block) => block.text)).toEqual(['Text.', 'Quoted on.']);
  });
});

describe('plainInline', () => {
  test.each([
    ['a [link](https://x.y/z_(1) "title") here', 'a link here'],
    ['[![badge](b.svg)](https://x)', 'badge'],
    ['[text][ref] and <https://a.b>', 'text and https://a.b'],
    ['**bold**, *it*, ~~gone~~, 5 * 3 * 2, a*b', 'bold, it, gone, 5 * 3 * 2, a*b'],
    ['`[not](a link)` and `**`', '`[not](a link)` and `**`'],
    ['Map<string> stays, <br>a <b>tag</b> goes', 'Map<string> stays,  a tag goes'],
    ['__init__ and snake_case', '__init__ and snake_case'],
    ['\\*not emphasis\\*', '*not emphasis*'],
  ])('%s', (marked, plain) => expect(plainInline(marked)).toBe(plain));
});

test('hostile lines are read in linear time', () => {
  const long = 300_000;
  const lines = ['[', '![](', '`', '*', '<a ', '#', '|', '- ', '> ', '\\', ' ', '-', '=', '](', '[x](<'].map(
    (part) => part.repeat(Math.ceil(long / part.length)),
  );
  for (const line of lines) {
    const { sections: read } = readMarkdown(`x\n${line}\ny ${line}\n${line}|\n`);
    expect([...(read as readonly Section[])].length).toBeGreaterThan(0);
  }
  const many = readMarkdown('## same\nx\n'.repeat(20_000));
  expect([...(many.sections as readonly Section[])]).toHaveLength(20_000);
});
