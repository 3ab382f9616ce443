import Mustache from 'mustache';
import { describe, expect, it } from 'vitest';
import { CompactTemplate } from '../../src/agents/compact-template.js';
import { Interaction } from '../../src/agents/interaction.js';
import { Template } from '../../src/agents/template.js';
import { TemplateContext } from '../../src/agents/template-context.js';

const view = {
  text: 'a message',
  zero: 0,
  yes: true,
  list: [1, 'two', { name: 'three', list: [{ text: 'inner' }] }, ['nested']],
  object: { name: 'named', deep: { list: ['x'], 'a b': 1 } },
};

const unlimited = () => ({ left: Number.POSITIVE_INFINITY, perSection: 1 });
const show = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const rendered = (source: string, variables: Record<string, unknown> = {}) =>
  new Template(source).render(new Interaction('a message', variables));

describe('the context of a template', () => {
  it.each([
    '{{text}} {{zero}} {{yes}} {{absent}}',
    '{{object.name}} {{object.deep.list}} {{object.deep.a b}} {{object.absent.name}}',
    '{{list.length}} {{text.length}} {{object.name.length}}',
    '{{#object}}{{name}} {{text}} {{deep.list}}{{/object}}',
    '{{#list}}<{{.}} {{name}} {{#list}}{{text}}{{/list}}>{{/list}}',
    '{{^absent}}{{object}}{{/absent}}{{#zero}}never{{/zero}}',
  ])('finds in %j what Mustache finds', (source) => {
    const ours = new CompactTemplate(source).render(new TemplateContext(view, undefined, unlimited()), show);
    expect(ours).toBe(
      new Mustache.Writer().render(source, new Mustache.Context(view), undefined, { escape: show }),
    );
  });

  it.each(['constructor', 'toString', '__proto__', 'text.constructor.name', 'variables.constructor'])(
    'finds only fields of data: {{%s}} is nothing',
    (name) => {
      expect(rendered(`<{{${name}}}>`, { a: 1 })).toBe('<>');
    },
  );

  it('shows objects and lists as JSON, escaped or not', () => {
    expect(rendered('{{variables}} {{{variables.a}}}', { a: [1, null] })).toBe('{"a":[1,null]} [1,null]');
    expect(
      rendered('{{#variables.list}}[{{name}}]{{/variables.list}}', { list: [null, { name: 'x' }] }),
    ).toBe('[][x]');
  });

  it('counts what objects show: a short template cannot repeat a long variable', () => {
    const variables = { v: 'x'.repeat(100_000) };
    expect(rendered('{{variables}}{{variables}}', variables)).toHaveLength(2 * 100_008);
    expect(() => rendered('{{variables}}'.repeat(3), variables)).toThrow('longer than a query may be');
    expect(() => rendered('{{{variables}}}'.repeat(3), variables)).toThrow('longer than a query may be');
    const many = { list: Array.from({ length: 20_000 }, (_, n) => n) };
    expect(() => rendered('{{variables.list}}'.repeat(900), many)).toThrow('longer than a query may be');
  });
});
