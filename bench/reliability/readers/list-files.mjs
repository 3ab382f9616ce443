// The readers of documents and of .gitignore files: see list.mjs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutsOf } from '../../../dist/src/documents/chunks.js';
import { PathPatterns } from '../../../dist/src/documents/files/path-patterns.js';
import { DocumentReader } from '../../../dist/src/documents/reader.js';
import { odd, refused, words } from './parts.mjs';

/** Returns the row of an ending. `bytesOf`: the file that has a text in it. */
export const documentRow = (folder, limit) => (name, ending, tokens, seeds, bytesOf) => ({
  name: `documents: ${name}`,
  limit,
  ownThread: true,
  tokens: [...tokens, 'a', ' ', '\n', '\0', 'é'],
  seeds,
  read: async (text) => {
    const path = join(folder, `document${ending}`);
    writeFileSync(path, bytesOf?.(text) ?? text);
    const reader = new DocumentReader();
    const cut = async (document) => {
      for await (const _ of cutsOf(document, { size: 1200, overlap: 150 }));
    };
    await refused(() => reader.read(path, cut));
    await reader[Symbol.asyncDispose]();
  },
});

export function documents(folder, limit) {
  const row = documentRow(folder, limit);
  const json = [...words('{ } [ ] , : "a" 1 "\\u0041" {"a":1}, // /* */')];
  return [
    row(
      'Markdown',
      '.md',
      [
        ...words(
          '# ## * ** _ ` ``` ~~~ > - 1. [a] ](b) ![ ( < <a> & &amp; \\ | |- --- === [^1] [^1]: [a]: http://a.b $ <!--',
        ),
        '    ',
        '\n\n',
        '---\n',
      ],
      [
        { unit: '> ' },
        { unit: '- ' },
        { unit: '[', close: '](a)' },
        { head: '---\n', unit: 'a: b\n' },
        { head: 'a|b\n-|-\n', unit: 'c|d\n' },
        { unit: '*a _b ' },
        { unit: '[a](', close: ')' },
        { unit: '![' },
        { head: '---\n', unit: '- [' },
        { head: '---\na: ', unit: '&a [*a,' },
      ],
    ),
    row(
      'HTML',
      '.html',
      [
        ...words(
          '< > </ <a> </a> <p> <div> </div> <table> <tr> <td> </table> <!-- --> & &amp; &#x41; <script> </script> <pre> <h1> <li> <ul> <svg> <title> = " \' <p a="',
        ),
        '<a href="',
      ],
      [
        { unit: '<div>', close: '</div>' },
        { unit: '<table><tr><td>' },
        { unit: '<ul><li>' },
        { unit: '<a ' },
      ],
    ),
    row(
      'XHTML',
      '.xhtml',
      [...words('< > </ <a> </a> <p/> <![CDATA[ ]]> <? ?> & &amp; <!DOCTYPE <!ENTITY')],
      [{ unit: '<div>', close: '</div>' }],
    ),
    row('XML', '.xml', words('< > </ <a> </a> <a/> <![CDATA[ ]]> <? ?> & &amp; <!DOCTYPE <!ENTITY = "'), [
      { unit: '<a>', close: '</a>' },
    ]),
    row('reStructuredText', '.rst', [
      ...words('= - ` `` :: .. .. |a| *a* a_ _ [1]_ +--+ |'),
      '=====\n',
      '.. note::\n',
    ]),
    row('AsciiDoc', '.adoc', [
      ...words('= == *a* _a_ ---- |=== |a << >> [a] link:a[b] include::'),
      '----\n',
      '|===\n',
    ]),
    row('Org', '.org', [
      ...words('* ** #+BEGIN_SRC #+END_SRC [[a][b]] =a= ~a~ |a| :a:'),
      '#+BEGIN_SRC\n',
      '| a |\n',
    ]),
    row('text', '.txt', ['aaaaaaaa', '.', '. ', '\n\n', '\r', '\t', '蜜', '。', '\u2028', ...odd]),
    row('code', '.ts', [
      ...words('function class const = ( ) { } => // /* */ " \' ` ; : <'),
      'export ',
      'function a(',
      'const a = ',
      '\t',
      'public static ',
    ]),
    row('JSON', '.json', json, [
      { unit: '[', close: ']' },
      { head: '[', unit: '1,', tail: '1]' },
      { unit: '{"a":', tail: '1', close: '}' },
    ]),
    row(
      'notebooks',
      '.ipynb',
      [...json, '{"cells":[', '{"cell_type":"markdown","source":["# a"]},'],
      [{ head: '{"cells":[', unit: '{"cell_type":"markdown","source":["# a"]},', tail: '{}]}' }],
    ),
    row(
      'CSV',
      '.csv',
      [...words('a , ; "a" " "" 1'), '\r\n', '\n', '"a\n', '\t'],
      [{ head: 'a,b\n', unit: '1,2\n' }, { unit: 'a,' }],
    ),
    row('JSON lines', '.jsonl', json, [{ unit: '{"a":"b"}\n' }, { unit: '{"a":1,' }]),
  ];
}

const names = [
  words('a/b/c.md aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b.txt'),
  [`${'a'.repeat(200)}/`.repeat(3)],
  ['a/'.repeat(60)],
].flat();
export const ignoring = [
  {
    name: 'patterns of ignored files',
    limit: 32_768,
    ownThread: true,
    tokens: [...words('a b * ** ? [a-z] [!a] [ ] / ! \\ # a* *a'), '\n', '**/', ' '],
    read: async (text) => {
      const patterns = new PathPatterns(text.split('\n'));
      for (const path of names) patterns.selects(path);
    },
  },
];
