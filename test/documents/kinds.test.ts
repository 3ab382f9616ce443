/** Kinds of files beside Markdown, HTML, PDF and tables. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { formatOf } from '../../src/documents/formats/formats.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

async function read(name: string, content: string | Uint8Array) {
  writeFileSync(file(name), content);
  await using reader = new DocumentReader();
  return reader.read(file(name), async ({ title, sections }) => {
    const found: Section[] = [];
    for await (const section of sections) found.push(section);
    return { title, sections: found };
  });
}

const parts = (sections: readonly Section[]) =>
  sections.map(({ headings, blocks }) => [headings.join(' > '), ...blocks.map(({ text }) => text)]);

test('names without ending are known, and files that programs write are not', () => {
  expect(['README', 'a/LICENSE', 'Makefile', 'b/x.PY'].map(formatOf)).toEqual([
    'text',
    'text',
    'text',
    'code',
  ]);
  expect(['package-lock.json', 'run', 'photo.png'].map(formatOf)).toEqual([undefined, undefined, undefined]);
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
    ['a.go', 'func (b *Boat) Sail() error {\n}\ntype Boat struct {\n}', ['Sail', 'Boat']],
    [
      'a.rs',
      'pub(crate) fn sail() {}\nimpl Boat {\n    pub fn dock(&self) {}\n}',
      ['sail', 'Boat', 'Boat.dock'],
    ],
    ['a.c', 'static int sail(struct boat *b,\n  int at)\n{\n  return go(at);\n}\nint x = f(1);', ['sail']],
    ['a.java', 'public final class Boat {\n  int sail() { return 1; }\n}', ['Boat']],
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
    expect(parts((await read('c.json', '{ // note\n "a": 1, }')).sections)).toEqual([['', 'a: 1']]);
    expect(parts((await read('d.json', 'no JSON')).sections)).toEqual([['', 'no JSON']]);
    await expect(
      read('e.json', `${'['.repeat(200_000)}12345678901234567${']'.repeat(200_000)}`),
    ).rejects.toThrow('nested too deeply');
  });

  test('of XML has the names of its elements', async () => {
    const xml =
      '<?xml version="1.0"?><fleet><!-- no --><boat kind="x"><name>Ida</name><note>a &lt; b</note></boat></fleet>';
    expect(parts((await read('a.xml', xml)).sections)).toEqual([['', 'name: Ida', 'note: a < b']]);
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
          { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo', 'text/plain': ['<Figure>'] } },
        ],
      },
      { cell_type: 'markdown', source: '## Next\n\nLow water.' },
    ],
  };
  const { title, sections } = await read('a.ipynb', JSON.stringify(notebook));
  expect(title).toBe('Tides');
  expect(parts(sections)).toEqual([
    ['', 'High water.', 'print(1)', '1', '<Figure>'],
    ['Next', 'Low water.'],
  ]);
  expect(sections[0]?.blocks[1]).toMatchObject({ kind: 'code', head: 'python' });
  await expect(read('b.ipynb', '{')).rejects.toThrow('is not a notebook');
});

describe('marked texts have their headings', () => {
  test('AsciiDoc', async () => {
    const { title, sections } = await read(
      'a.adoc',
      '= Guide\n:toc:\n\nIntro.\n\n== Install\n\n// no\n* one\n\n=== Linux\n\nTwo.',
    );
    expect(title).toBe('Guide');
    expect(parts(sections)).toEqual([
      ['', 'Intro.'],
      ['Install', '* one'],
      ['Install > Linux', 'Two.'],
    ]);
  });

  test('Org', async () => {
    const { title, sections } = await read(
      'a.org',
      '#+TITLE: Guide\n#+OPTIONS: toc:nil\n\n* TODO Install :dev:\n:PROPERTIES:\n:ID: x\n:END:\nText.\n\n** Linux\n\nTwo.',
    );
    expect(title).toBe('Guide');
    expect(parts(sections)).toEqual([
      ['Install', 'Text.'],
      ['Install > Linux', 'Two.'],
    ]);
  });

  test('reStructuredText', async () => {
    const { title, sections } = await read(
      'a.rst',
      '=====\nGuide\n=====\n\n.. _here:\n\nIntro.\n\nInstall\n-------\n\nOne.\n\nLinux\n~~~~~\n\nTwo.\n\nUse\n---\n\nThree.',
    );
    expect(title).toBe('Guide');
    expect(parts(sections)).toEqual([
      ['', 'Intro.'],
      ['Install', 'One.'],
      ['Install > Linux', 'Two.'],
      ['Use', 'Three.'],
    ]);
  });
});
