import { describe, expect, it } from 'vitest';
import { Interaction } from '../../src/agents/interaction.js';
import { Template } from '../../src/agents/template.js';

function render(
  source: string,
  variables: Record<string, unknown> = {},
  text = 'Where is <b> & "c"?',
): string {
  const interaction = new Interaction(text, variables);
  const found = { _type: 'knowledge', node: 'kb', storage: 'docs', rank: 1, score: 1 } as const;
  interaction.append([
    { ...found, id: '0', text: 'first' },
    { ...found, id: '1', text: 'second' },
  ]);
  return new Template(source).render(interaction);
}

describe('a query template', () => {
  it("gives the user's message by default, unescaped", () => {
    expect(render('{{text}}')).toBe('Where is <b> & "c"?');
    expect(render('About {{topic}}{{variables.topic}}: {{text}}', { topic: 'tea' })).toBe(
      'About tea: Where is <b> & "c"?',
    );
  });

  it('sees components by type', () => {
    expect(render('{{#knowledge}}[{{id}} {{text}}]{{/knowledge}}')).toBe('[0 first][1 second]');
    expect(render('{{#human_message}}{{text}}{{/human_message}}', {}, 'hello')).toBe('hello');
  });

  it('shows lists and objects as JSON', () => {
    expect(render('{{variables.list}}', { list: [1, { a: 'b' }] })).toBe('[1,{"a":"b"}]');
    expect(render('{{variables.list}}', { list: [2n ** 53n + 1n, 'x'] })).toBe('[9007199254740993,"x"]');
    expect(render('{{variables.wide}}', { wide: 2n ** 53n + 1n })).toBe('9007199254740993');
  });

  it('reaches data alone: neither prototypes nor constructors nor methods', () => {
    const variables = { list: [1, 2], object: { a: 1 } };
    for (const name of [
      'constructor',
      '__proto__',
      'text.constructor',
      'variables.constructor',
      'variables.constructor.constructor',
      'variables.list.map',
      'variables.list.constructor',
      'variables.object.toString',
      'knowledge.join',
    ]) {
      expect(render(`<{{${name}}}>`, variables), name).toBe('<>');
      expect(render(`<{{#${name}}}in{{/${name}}}>`, variables), name).toBe('<>');
    }
  });

  it('is refused when it cannot be parsed', () => {
    expect(() => new Template('{{#open}}')).toThrow('open');
    expect(() => new Template('{{text')).toThrow('Unclosed');
  });

  it('gives up on nested loops over long lists instead of holding the server', () => {
    const list = Array.from({ length: 1000 }, (_, index) => index);
    const source =
      '{{#variables.list}}{{#variables.list}}{{#variables.list}}x{{/variables.list}}{{/variables.list}}{{/variables.list}}';
    expect(() => render(source, { list })).toThrow('longer than a query may be');
  });
});
