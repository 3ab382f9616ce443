import * as fc from 'fast-check';
import Mustache from 'mustache';
import { describe, expect, it } from 'vitest';
import { CompactTemplate } from '../../src/agents/compact-template.js';

const show = (value: unknown) => `<${typeof value === 'object' ? JSON.stringify(value) : String(value)}>`;

/** The text, or the message of the error. */
function outcome(render: () => string): string {
  try {
    return `= ${render()}`;
  } catch (error) {
    return `! ${(error as Error).message}`;
  }
}

const ours = (source: string, view: unknown) =>
  outcome(() => new CompactTemplate(source).render(new Mustache.Context(view), show));

const mustaches = (source: string, view: unknown) =>
  outcome(() =>
    new Mustache.Writer().render(source, new Mustache.Context(view), undefined, { escape: show }),
  );

const view = {
  text: 'a message',
  name: '',
  zero: 0,
  yes: true,
  no: false,
  nothing: null,
  list: [1, 'two', { name: 'three', list: [{ text: 'inner' }] }, true, ['nested']],
  empty: [],
  object: { name: 'named', deep: { list: ['x'], 'a b': 1 } },
};

const names = [
  'text',
  'name',
  'zero',
  'yes',
  'no',
  'nothing',
  'list',
  'empty',
  'object',
  'object.name',
  'object.deep.list',
  'list.length',
  'text.length',
  'absent',
  'a.b',
  '.',
];

const anyName = fc.constantFrom(...names);
const space = fc.constantFrom('', ' ', '\n', '  ', '\r\n', '\t');
const words = fc.constantFrom('words', 'a } b', '{', '}}', 'text', '"', '\u{1f41d}', '\u2028');

const plain = fc.oneof(
  space,
  words,
  fc
    .tuple(fc.constantFrom('{{', '{{ ', '{{&', '{{ & '), anyName, fc.constantFrom('}}', ' }}'))
    .map((parts) => parts.join('')),
  anyName.map((of) => `{{{${of}}}}`),
  anyName.map((of) => `{{! ${of} }}`),
  anyName.map((of) => `{{> ${of}}}`),
);

const { template } = fc.letrec<{ template: string; section: string }>((tie) => ({
  template: fc
    .array(fc.oneof({ depthSize: 'small', withCrossShrink: true }, plain, tie('section')), { maxLength: 6 })
    .map((parts) => parts.join('')),
  section: fc
    .tuple(fc.constantFrom('#', '^'), anyName, space, tie('template'), space)
    .map(
      ([sign, of, before, inside, after]) =>
        `${before}{{${sign}${of}}}${after}${inside}${before}{{/${of}}}${after}`,
    ),
}));

describe('a compact template', () => {
  it('renders as Mustache does', () => {
    fc.assert(
      fc.property(template, (source) => {
        expect(ours(source, view)).toBe(mustaches(source, view));
      }),
      { numRuns: 3000 },
    );
  });

  it('is refused, or renders, as Mustache does when its text is anything', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#',
      '/',
      '^',
      '&',
      '!',
      '=',
      '<%',
      '%>',
      ' ',
      '\n',
      ...names,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const source = pieces.join('');
        expect(ours(source, view)).toBe(mustaches(source, view));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['{{=<% %>=}}<% text %><%#list%><%.%><%/list%> {{text}}'],
    ['  {{#yes}}  \n  kept\n  {{/yes}}  \nend'],
    ['{{#list}}{{#list}}{{text}}{{/list}}{{name}};{{/list}}'],
    ['{{=a b=}}aabatextb'],
    ['{{{object}}}'],
    [''],
    ['{{text}}'.repeat(9000)],
  ])('renders %j as Mustache does', (source) => {
    expect(ours(source, view)).toBe(mustaches(source, view));
  });

  it('takes at most 8 bytes per token, 16 in long templates', () => {
    expect(new CompactTemplate('{{a}}'.repeat(3276)).bytes).toBe(3276 * 8);
    expect(new CompactTemplate('{{a}}'.repeat(20_000)).bytes).toBe(20_000 * 16);
  });

  it('may have a thousand blanks in a row, not more: looking for the end of a tag takes their square', () => {
    const source = (blanks: number) => `{{a${' '.repeat(blanks)}}}`;
    expect(ours(source(1000), { a: 1 })).toBe('= <1>');
    expect(ours(source(1001), { a: 1 })).toBe('! it has more than 1000 blanks or line ends in a row');
  });
});
