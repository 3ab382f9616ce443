/** AsciiDoc, Org and reStructuredText. */
import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { read } from './read-file.js';

describe('marked texts have their headings, code and tables', () => {
  const kinds = (sections: readonly Section[]) =>
    sections.map(({ headings, blocks }) => [
      headings.join(' > '),
      ...blocks.map(({ kind, head = '', text }) => `${kind}${head && `(${head})`}: ${text}`),
    ]);

  test('AsciiDoc', async () => {
    const { title, sections } = await read(
      'a.adoc',
      [
        ...[
          '= Guide',
          'Ann Lee <ann@x.example>',
          'v1.0, 2026',
          ':toc:',
          '',
          'Intro, link:http://x[see].',
          '',
        ],
        ...[
          '== Install',
          '// no',
          '* one',
          '** two',
          '',
          '[source,python]',
          '----',
          '# == stays',
          '// stays',
        ],
        ...['x = [1]', '----', '', '|===', '|Name |Age', '', '|Ann', '|4', '|===', '', '////', 'hidden', ''],
        ...['block', '////', '=== Linux', 'Two.', '', 'Other', '-----', 'Three.'],
      ].join('\n'),
    );
    expect(title).toBe('Guide');
    expect(kinds(sections)).toEqual([
      ['', 'prose: Ann Lee <ann@x.example>\nv1.0, 2026', 'prose: Intro, see.'],
      [
        'Install',
        'item: * one',
        'item: ** two',
        'code(python): # == stays\n// stays\nx = [1]',
        'row(Name | Age): Ann | 4',
      ],
      ['Install > Linux', 'prose: Two.'],
      ['Other', 'prose: Three.'],
    ]);
  });

  test('Org', async () => {
    const { title, sections } = await read(
      'a.org',
      [
        ...['#+TITLE: Guide', '#+OPTIONS: toc:nil', '* TODO [#A] Install :dev:', 'SCHEDULED: <2026-01-01>'],
        ...[
          ':PROPERTIES:',
          ':ID: x',
          ':END:',
          'Text with [[http://x][a link]].',
          '** Linux',
          '#+BEGIN_SRC sh',
        ],
        ...[
          '# stays',
          ',* stays',
          '#+END_SRC',
          '| Name | Age |',
          '|------+-----|',
          '| Ann | 4 |',
          '# no',
          '- one',
        ],
      ].join('\n'),
    );
    expect(title).toBe('Guide');
    expect(kinds(sections)).toEqual([
      ['Install', 'prose: dev', 'prose: Text with a link.'],
      ['Install > Linux', 'code(sh): # stays\n* stays', 'row(Name | Age): Ann | 4', 'item: - one'],
    ]);
  });

  test('reStructuredText', async () => {
    const { title, sections } = await read(
      'a.rst',
      [
        ...[
          '.. a comment',
          '   of two lines',
          '',
          '=====',
          'Guide',
          '=====',
          '',
          '.. _here:',
          '',
          'Intro, :ref:`see <x>`.',
          '',
        ],
        ...[
          'Install',
          '-------',
          '',
          '.. code-block:: python',
          '   :linenos:',
          '',
          '   def f():',
          '       pass',
          '',
        ],
        ...[
          '.. note:: Take care.',
          '',
          'So::',
          '',
          '  $ run',
          '',
          'Linux',
          '~~~~~',
          '',
          '+------+-----+',
          '| Name | Age |',
        ],
        ...[
          '+======+=====+',
          '| Ann  | 4   |',
          '+------+-----+',
          '',
          '====  ===',
          'Boat  At',
          '====  ===',
          'Ida   5',
          '====  ===',
        ],
        ...['', 'Use', '---', '', 'Three. [1]_', '', '.. [1] A footnote.'],
      ].join('\n'),
    );
    expect(title).toBe('Guide');
    expect(kinds(sections)).toEqual([
      ['', 'prose: Intro, see.'],
      ['Install', 'code(python): def f():\n    pass', 'prose: Take care.', 'prose: So:', 'code: $ run'],
      ['Install > Linux', 'row(Name | Age): Ann | 4', 'row(Boat | At): Ida | 5'],
      ['Use', 'prose: Three. [1]_', 'prose: A footnote.'],
    ]);
  });

  test.each([
    [
      'anchors.adoc',
      ':city: Oslo\n\n[[sec]]\n== From {city}\n[#x.y]\n=== Below\nText.',
      [['From Oslo > Below', 'prose: Text.']],
    ],
    [
      'cells.adoc',
      '|===\n|A | B\n\n| 3 | 4\n2+|both\n|a \\| b | 5\nfoo|bar\n|===',
      [['', 'row(A | B): 3 | 4', 'row(A | B): both | ', 'row(A | B): a | b | 5 foo|bar']],
    ],
    [
      'facts.org',
      '#+AUTHOR: Ann\n#+CAPTION: The port\n[[file:p.png]]\n* Tide :sea:höhe:\nText.',
      [
        ['', 'prose: Ann', 'prose: The port', 'prose: file:p.png'],
        ['Tide', 'prose: sea, höhe', 'prose: Text.'],
      ],
    ],
    [
      'facts.rst',
      '.. |v| replace:: 2.1\n\nUse |v| now.\n\n.. image:: a.png\n   :alt: The port\n\n.. only:: html\n\n   Read me.\n\n.. csv-table:: T\n   :header: "a", "b"\n\n   1, 2',
      [['', 'prose: Use 2.1 now.', 'prose: The port', 'prose:    Read me.', 'prose: T', 'row(a | b): 1 | 2']],
    ],
    [
      'wide.rst',
      '====  ====\n港口  町\n====  ====\n灯台  丘の\n====  ====\n',
      [['', 'row(港口 | 町): 灯台 | 丘の']],
    ],
  ])('%s', async (name, text, expected) => {
    expect(kinds((await read(name, text)).sections)).toEqual(expected);
  });

  test('tables of AsciiDoc may be CSV, or have separators of their own', async () => {
    const text =
      ',===\nname,age\n"Bo, B",4\n,===\n\n:===\na:b\n1:2\n:===\n\n[%header,format=csv,separator=;]\n|===\nx;y\n1;2\n|===\n';
    const { sections } = await read('csv.adoc', text);
    expect(sections.flatMap(({ blocks }) => blocks)).toEqual([
      { kind: 'row', head: 'name | age', text: 'Bo, B | 4' },
      { kind: 'row', head: 'a | b', text: '1 | 2' },
      { kind: 'row', head: 'x | y', text: '1 | 2' },
    ]);
  });

  test('cells of AsciiDoc go on over lines, and span columns and rows', async () => {
    const text =
      '[cols="1,2a",options="header"]\n|===\n|Key |Value\n|k1 |one\ntwo\n|k2\n|\n* three\n* four\n.2+|both |x\n|y\n2+|wide\n2*|z\n|===\n';
    const { sections } = await read('spans.adoc', text);
    expect(sections.flatMap(({ blocks }) => blocks.map((block) => block.text))).toEqual([
      'k1 | one two',
      'k2 | * three * four',
      'both | x',
      'both | y',
      'wide | ',
      'z | z',
    ]);
  });

  test('cells of drawn tables of reStructuredText span columns and rows', async () => {
    const text = [
      '+-----+-------+------+',
      '| Key | Value | Note |',
      '+=====+=======+======+',
      '| k1  | over  | a    |',
      '+-----+ two   | b    |',
      '| k2  | rows  +------+',
      '|     |       | c+-  |',
      '+-----+-------+------+',
      '| both keys   | 港口 |',
      '+-----+-------+------+',
      '',
      '=====  =====  ======',
      '   Inputs     Output',
      '------------  ------',
      'A      B      C',
      '=====  =====  ======',
      'no            yes',
      '=====  =====  ======',
    ].join('\n');
    const { sections } = await read('spans.rst', text);
    expect(sections.flatMap(({ blocks }) => blocks.map(({ head, text }) => [head, text]))).toEqual([
      ['Key | Value | Note', 'k1 | over two rows | a b'],
      ['Key | Value | Note', 'k2 | over two rows | a b'],
      ['Key | Value | Note', 'k2 | over two rows | c+-'],
      ['Key | Value | Note', 'both keys |  | 港口'],
      ['Inputs |  | Output', 'A | B | C'],
      ['Inputs |  | Output', 'no |  | yes'],
    ]);
  });

  test('tables of reStructuredText may be lists or CSV', async () => {
    const text =
      '.. list-table:: Boats\n   :header-rows: 1\n\n   * - Name\n     - At\n   * - Ida\n     - 5 at\n       night\n   * - Bo\n     -\n\n.. csv-table::\n   :header: "x", "y"\n\n   1, "2, 3"\n';
    const { sections } = await read('lists.rst', text);
    expect(kinds(sections)).toEqual([
      [
        '',
        'prose: Boats',
        'row(Name | At): Ida | 5 at night',
        'row(Name | At): Bo | ',
        'row(x | y): 1 | 2, 3',
      ],
    ]);
  });

  test.each([
    [
      'a.rst',
      'H\\ :sub:`2`\\ O and \\*no\\* ``C:\\new``.\n\n----\n\nEnd.',
      ['H2O and *no* C:\\new.', 'End.'],
    ],
    [
      'a.adoc',
      'ifdef::x[]\nSee https://x.example/a[the page].\nendif::[]\ninclude::b.adoc[]',
      ['See the page.'],
    ],
    ['a.org', '* COMMENT no\nno\n** no\nno\n* Yes\nText.\n-----\n  # no', ['Text.']],
  ])('escapes, directives, rules and comments of %s are no text', async (name, text, expected) => {
    const { sections } = await read(name, text);
    expect(sections.flatMap(({ blocks }) => blocks.map((block) => block.text))).toEqual(expected);
  });

  test.each(['a.org', 'a.adoc', 'a.rst'])(
    'blocks of %s without an end take time that grows with the text',
    async (name) => {
      const line = { 'a.org': ':A:\n', 'a.adoc': '----\n|===\n', 'a.rst': 'a::\n\n' }[name] as string;
      const { sections } = await read(name, line.repeat(200_000));
      expect(sections.length).toBeLessThan(3);
    },
  );
});
