/** Kinds of files beside Markdown, HTML, PDF and tables. */
import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { formatOf } from '../../src/documents/formats/formats.js';
import { read } from './read-file.js';

const parts = (sections: readonly Section[]) =>
  sections.map(({ headings, blocks }) => [headings.join(' > '), ...blocks.map(({ text }) => text)]);

test('names without ending are known, and files that programs write are not', () => {
  expect(['README', 'a/LICENSE', 'Makefile', 'b/x.PY'].map(formatOf)).toEqual([
    'text',
    'text',
    'text',
    'code',
  ]);
  expect(['package-lock.json', 'run', 'song.mp3'].map(formatOf)).toEqual([undefined, undefined, undefined]);
});

describe('source code', () => {
  test('has a section for each function and class, with its lines and what stands above it', async () => {
    const python = [
      '"""Lamps."""',
      'import os',
      '',
      '# Lights a lamp.',
      '@cached',
      'def light(lamp):',
      '    return lamp.on()',
      '',
      'class Lamp:',
      '    def on(self):',
      '        return True',
    ].join('\n');
    const { sections } = await read('lamp.py', python);
    expect(
      sections.map(({ headings, anchor, metadata }) => [headings.join('.'), anchor, metadata?.lines]),
    ).toEqual([
      ['', 'L1-3', '1-3'],
      ['light', 'L4-8', '4-8'],
      ['Lamp', 'L9-9', '9-9'],
      ['Lamp.on', 'L10-11', '10-11'],
    ]);
    expect(sections[3]?.metadata).toEqual({ lines: '10-11', symbol: 'Lamp.on' });
    expect(sections[1]?.blocks).toEqual([
      { kind: 'code', text: '# Lights a lamp.\n@cached\ndef light(lamp):\n    return lamp.on()', head: 'py' },
    ]);
  });

  test.each([
    [
      'a.ts',
      'export async function sail() {}\nexport const dock = async (at: string) => {};\ninterface Berth {}',
      ['sail', 'dock', 'Berth'],
    ],
    ['a.go', 'func (b *Boat) Sail() error {\n}\ntype Boat struct {\n}', ['Boat.Sail', 'Boat']],
    [
      'b.c',
      'int\nsail(struct boat *b)\n{\n  if (go(b))\n    return 1;\n}\nint dock(void) { return go(1); }',
      ['sail', 'dock'],
    ],
    [
      'a.rs',
      'pub(crate) fn sail() {}\nimpl Boat {\n    pub fn dock(&self) {}\n}',
      ['sail', 'Boat', 'Boat.dock'],
    ],
    ['a.c', 'static int sail(struct boat *b,\n  int at)\n{\n  return go(at);\n}\nint x = f(1);', ['sail']],
    ['a.java', 'public final class Boat {\n  int sail() { return 1; }\n}', ['Boat', 'Boat.sail']],
    [
      'b.java',
      'package sea;\n\n@Entity\npublic class Boat {\n  private Sail sail = make(1);\n  @Override\n  public <T> List<T> crew(int n)\n      throws Lost {\n    if (n > 1) {\n      go(n, () -> {\n      });\n    }\n  }\n  record Berth(int at) {}\n}',
      ['Boat', 'Boat.crew', 'Boat.Berth'],
    ],
    [
      'c.java',
      '@Entity @Table(name = "boats") public class Boat {\n  @Override public String toString() { return ""; }\n  @Get("/x") Tide tide() {\n  }\n}',
      ['Boat', 'Boat.toString', 'Boat.tide'],
    ],
    ['a.kt', '@Serializable data class Boat(val at: Int)\n@Test fun sails() {\n}', ['Boat', 'sails']],
    [
      'a.js',
      'class Boat {\n  #at = 1;\n  constructor(name) {\n    this.name = name;\n    for (const x of y) {\n      f(x);\n    }\n  }\n  static async *sail() {\n  }\n  get berth() { return 1; }\n}\nmodule.exports.dock = function (at) {};\nexports.moor = (at) => at;\nfunction* tide() {}',
      ['Boat', 'Boat.constructor', 'Boat.sail', 'Boat.berth', 'module.exports.dock', 'exports.moor', 'tide'],
    ],
    [
      'b.ts',
      'export default class Boat<T> extends Ship {\n  protected async sail(at: string): Promise<void> {\n    await go({\n      at,\n    });\n  }\n}\nexport type Berth = 1;\nexport const enum Tide { High }',
      ['Boat', 'Boat.sail', 'Berth', 'Tide'],
    ],
    [
      'a.cpp',
      'namespace sea {\n/// A boat.\ntemplate <typename T>\nclass Boat : public Ship {\n public:\n  void sail() const;\n  int berth(int at) { return at; }\n};\nvoid Boat::sail() const {\n}\n}',
      ['sea', 'Boat', 'Boat.berth', 'Boat::sail'],
    ],
    [
      'a.cs',
      'namespace Sea;\npublic class Boat {\n  public string Name { get; set; }\n  public async Task<int> SailAsync(int at)\n  {\n    return 1;\n  }\n}',
      ['Sea', 'Boat', 'Boat.SailAsync'],
    ],
    [
      'b.rs',
      'impl<T> Sails for Boat<T> {\n    async fn dock(&self) {}\n}\nmacro_rules! moor { () => {} }\nmod tests {}',
      ['Boat', 'Boat.dock', 'moor', 'tests'],
    ],
    [
      'a.rb',
      'module Sea\n  class Boat < Ship\n    def self.sail(at)\n    end\n    def moored?\n    end\n  end\nend',
      ['Sea', 'Sea.Boat', 'Sea.Boat.self.sail', 'Sea.Boat.moored?'],
    ],
    [
      'a.php',
      '<?php\nclass Boat {\n  public function sail($at) {\n  }\n}\nfunction dock() {}',
      ['Boat', 'Boat.sail', 'dock'],
    ],
    [
      'a.kt',
      'data class Boat(val at: Int)\nobject Sea {\n  suspend fun sail() {}\n}',
      ['Boat', 'Sea', 'Sea.sail'],
    ],
    [
      'a.swift',
      'public struct Boat {\n  init(at: Int) {}\n  func sail() {}\n}\nextension Boat: Ship {}',
      ['Boat', 'Boat.init', 'Boat.sail', 'Boat'],
    ],
    ['a.sh', '#!/bin/sh\nsail() {\n  :\n}\nfunction dock {\n  :\n}', ['sail', 'dock']],
    [
      'a.sql',
      'CREATE TABLE IF NOT EXISTS boats (id int);\nCREATE OR REPLACE FUNCTION sail(at int) RETURNS int AS $$\nSELECT 1;\n$$;',
      ['boats', 'sail'],
    ],
    [
      'a.lua',
      'local function sail(at)\nend\nfunction Boat.dock(at)\nend\nBoat.moor = function() end',
      ['sail', 'Boat.dock', 'Boat.moor'],
    ],
    [
      'a.ex',
      'defmodule Sea.Boat do\n  def sail(at) do\n  end\n  defp dock, do: 1\nend',
      ['Sea.Boat', 'Sea.Boat.sail', 'Sea.Boat.dock'],
    ],
    ['a.hs', 'sail :: Int -> Int\nsail x = x\n\ndata Boat = Boat', ['sail', 'Boat']],
    ['a.r', 'sail <- function(at) {\n  at\n}', ['sail']],
    ['a.clj', '(ns sea.boat)\n(defn sail [at] at)', ['sea.boat', 'sail']],
  ])('%s', async (name, code, symbols) => {
    const { sections } = await read(name, code);
    expect(sections.map(({ headings }) => headings.join('.')).filter((symbol) => symbol !== '')).toEqual(
      symbols,
    );
  });
});

describe('data', () => {
  test('of JSON has its names; the objects of a list are sections', async () => {
    const { sections } = await read(
      'a.json',
      '{"name": "Ida", "id": 9007199254740993, "crew": {"first": ["Ann", "Bo"]}}',
    );
    expect(parts(sections)).toEqual([['', 'name: Ida', 'id: 9007199254740993', 'crew.first: Ann, Bo']]);
    const list = await read('b.json', '[{"q": "Why?"}, {"role": "user", "content": "When?"}]');
    expect(parts(list.sections)).toEqual([
      ['', 'q: Why?'],
      ['', 'user: When?'],
    ]);
  });

  test('of JSON may have comments and trailing commas, and is text if it is no JSON', async () => {
    const exact = '{"id": 12345678901234567890, /* note */ "list": [9007199254740993,],}';
    expect(parts((await read('c.json', exact)).sections)).toEqual([
      ['', 'id: 12345678901234567890', 'list: 9007199254740993'],
    ]);
    expect(parts((await read('c.jsonl', exact)).sections)).toEqual([['', 'list: 9007199254740993']]);
    expect(parts((await read('lines.json', '{"a": 1}\n{"b": 2}\n')).sections)).toEqual([
      ['', 'a: 1'],
      ['', 'b: 2'],
    ]);
    expect(parts((await read('c.json', '{ // note\n "a": 1, }')).sections)).toEqual([['', 'a: 1']]);
    expect(parts((await read('d.json', 'no JSON')).sections)).toEqual([['', 'no JSON']]);
    await expect(
      read('e.json', `${'['.repeat(200_000)}12345678901234567${']'.repeat(200_000)}`),
    ).rejects.toThrow('nested too deeply');
    for (const [open, close] of [
      ['[', ']'],
      ['[{},', ']'],
      ['{"role":"user","content":', '}'],
      ['{"a":', '/**/}'],
    ] as const)
      await expect(read('f.json', `${open.repeat(100_000)}1${close.repeat(100_000)}`)).rejects.toThrow(
        'nested too deeply',
      );
  });

  test('of XML has the values of attributes, and a text with emphasis in it is one', async () => {
    const xml =
      '<doc xmlns="urn:x"><outline text="Harbour news" n="9007199254740993"/><p>A <b>very</b> tall <i>mast</i>.</p><p/></doc>';
    expect(parts((await read('m.xml', xml)).sections)).toEqual([
      ['', 'outline text: Harbour news', 'outline n: 9007199254740993', 'p: A very tall mast.'],
    ]);
    const long = `<all>stray${'<p>words <b>of</b> a text</p>'.repeat(400)}</all>`;
    const [section] = (await read('l.xml', long)).sections;
    expect(section?.blocks.filter(({ text }) => text === 'p: words of a text').length).toBeGreaterThan(200);
    const words = section?.blocks.map(({ text }) => text.replaceAll(/\w+: /g, '')).join(' ');
    expect(words).toBe(`stray${' words of a text'.repeat(400)}`);
  });

  test('of XML has the names of its elements', async () => {
    const xml =
      '<?xml version="1.0"?><fleet><!-- no --><boat kind="x"><name>Ida</name><note>a &lt; b</note></boat></fleet>';
    const shown = ['', 'boat kind: x', 'name: Ida', 'note: a < b'];
    expect(parts((await read('a.xml', xml)).sections)).toEqual([shown]);
    const declared = xml.replace('<fleet>', '<!DOCTYPE fleet [<!ENTITY e "v"> <!ELEMENT a (b)> ]><fleet>');
    expect(parts((await read('b.xml', declared)).sections)).toEqual([shown]);
  });
});

test('a notebook has its Markdown, code and outputs without pictures', async () => {
  const notebook = {
    metadata: { language_info: { name: 'python' } },
    cells: [
      { cell_type: 'markdown', source: ['# Tides\n', '\n', 'High **water**.'] },
      {
        cell_type: 'code',
        source: 'print(1)\n',
        outputs: [
          { output_type: 'stream', text: ['\u001b[31m1\u001b[0m\n'] },
          { output_type: 'error', ename: 'TypeError', evalue: 'no tide', traceback: ['x'] },
          { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo', 'text/plain': ['<Figure>'] } },
          { output_type: 'display_data', data: { 'text/html': '<b>Ebb</b> at <i>six</i>' } },
        ],
      },
      { cell_type: 'markdown', source: '## Next\n\nLow water.' },
    ],
  };
  const { title, sections } = await read('a.ipynb', JSON.stringify(notebook));
  expect(title).toBe('Tides');
  expect(parts(sections)).toEqual([
    ['', 'High water.', 'print(1)', '1', 'TypeError: no tide', 'Ebb at six'],
    ['Next', 'Low water.'],
  ]);
  expect(sections[0]?.blocks[1]).toMatchObject({ kind: 'code', head: 'python' });
  await expect(read('b.ipynb', '{')).rejects.toThrow('is not a notebook');
  const cells = [
    { cell_type: 'heading', level: 2, source: ['Old tides'] },
    { cell_type: 'code', input: ['tide()'], outputs: [] },
  ];
  const old = await read('old.ipynb', JSON.stringify({ nbformat: 3, worksheets: [{ cells }] }));
  expect(parts(old.sections)).toEqual([['Old tides', 'tide()']]);
});

describe('long tables and blocks', () => {
  // More than a call takes arguments.
  const count = 130_000;

  test.each([
    ['a.rst', '+---+\n| a |\n', '| b |\n', '+---+\n', 1],
    ['b.rst', '==  ==\na   b\n', '    c\n', '==  ==\n', 1],
    ['a.adoc', '|===\n|a |b\n\n|c\n', 'd\n', '|===\n', 1],
    ['b.adoc', '|===\n|a |b\n\n', '|c|d', '\n|===\n', count],
    ['c.adoc', '----\n', 'd\n', '----\n', 1],
    ['a.org', '', '|c|d', '|\n', 1],
  ])('%s is read whole, in time that grows with its length', async (name, head, unit, tail, rows) => {
    const { sections } = await read(name, head + unit.repeat(count) + tail);
    const blocks = sections.flatMap((section) => section.blocks);
    const written = blocks.reduce((sum, { text }) => sum + text.length, 0);
    expect(blocks.length).toBeGreaterThanOrEqual(rows);
    expect(written).toBeGreaterThanOrEqual(count);
  });
});

test('colours and links of terminals in a log are no text', async () => {
  const log = '\u001b[31;1mERROR\u001b[0m lamp \u001b]8;;http://x\u0007out\u001b]8;;\u0007\n';
  expect(parts((await read('a.log', log)).sections)).toEqual([['', 'ERROR lamp out']]);
});

describe('settings', () => {
  test('YAML has a section for each document', async () => {
    const { sections } = await read('a.yaml', '# Boats\nname: Ida\n---\nname: Ran # two\nat:\n  - 1\n');
    expect(sections.map(({ anchor }) => anchor)).toEqual(['document=1', 'document=2']);
    expect(parts(sections)).toEqual([
      ['', '# Boats\nname: Ida'],
      ['', 'name: Ran # two\nat:\n  - 1'],
    ]);
    expect(parts((await read('b.yml', '---\na: 1\n')).sections)).toEqual([['', '---\na: 1']]);
  });

  test('lists within a list of TOML are no names', async () => {
    const { sections } = await read('m.toml', 'm = [\n  [1, 2],\n  [3, 4]\n]\n[a]\nb = 1\n');
    expect(parts(sections)).toEqual([
      ['', 'm = [\n  [1, 2],\n  [3, 4]\n]'],
      ['a', 'b = 1'],
    ]);
  });

  test('TOML and INI have a section for each name in brackets', async () => {
    const { sections } = await read(
      'a.toml',
      'title = "x"\n[server]\nport = 80\nlist = [\n  1,\n]\n[[boat]]\nname = "Ida"',
    );
    expect(parts(sections)).toEqual([
      ['', 'title = "x"'],
      ['server', 'port = 80\nlist = [\n  1,\n]'],
      ['boat', 'name = "Ida"'],
    ]);
    expect(parts((await read('b.ini', '; note\n[a b]\nx=1')).sections)).toEqual([
      ['', '; note'],
      ['a b', 'x=1'],
    ]);
  });
});
