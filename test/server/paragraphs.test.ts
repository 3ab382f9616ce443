import { describe, expect, it } from 'vitest';
import { splitMarkdown } from '../../src/demo/paragraphs.js';

const filler = 'A sentence that is long enough to be a passage of its own, and a little more.';

describe('Markdown is split into paragraphs', () => {
  it('at blank lines, with the heading in front', () => {
    const text = `# Title\n\n${filler}\ncontinued.\n\n## Part *two*\n\n${filler}\n`;
    expect(splitMarkdown(text)).toEqual([`Title: ${filler} continued.`, `Part two: ${filler}`]);
  });

  it('at list items and table rows, without marks', () => {
    const text = `## L\n- one: ${filler}\n- [two](x.md): ${filler}\n\n| a | b |\n|---|---|\n| \`8001\` | ${filler} |\n`;
    expect(splitMarkdown(text)).toEqual([`L: one: ${filler}`, `L: two: ${filler}`, `L: 8001 | ${filler}`]);
  });

  it('without code blocks and scraps', () => {
    expect(splitMarkdown(`Short.\n\n\`\`\`ts\n${filler}\n\n${filler}\n\`\`\`\n\n${filler}`)).toEqual([
      filler,
    ]);
  });

  it('into pieces that a model can take, none of whose words is lost', () => {
    const words = Array.from({ length: 900 }, (_, index) => `word${index}${index % 40 === 39 ? '.' : ''}`);
    const pieces = splitMarkdown(words.join(' '));
    expect(pieces.length).toBeGreaterThan(4);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(1200);
    expect(pieces.join(' ').split(' ')).toEqual(words);
  });
});
