import { expect, test } from 'vitest';
import { readMdx } from '../../src/documents/formats/markdown/markdown.js';

const textOf = (text: string) =>
  [...(readMdx(text).sections as readonly { blocks: { text: string }[] }[])]
    .flatMap(({ blocks }) => blocks.map(({ text }) => text))
    .join('\n');

test('imports and exports of MDX are left out, with their blank lines', () => {
  const text = [
    "import { Tabs } from './tabs'\nimport './style.css'\nimport Chart, * as rest from \"../chart\"",
    'export const meta = {\n  title: "Tides",\n\n  tags: ["sea"],\n}',
    'export default ({ children }) => <main>\n{children}\n</main>',
    '# Tides\n\nHigh at <Time hour={6}>six</Time>.\nimport duties are paid.',
    'Import is a word, export, too.',
    'import duties rose in May.',
    '```js\nimport { Lamp } from "lamp";\n{/* kept */}\n```',
  ].join('\n\n');
  expect(textOf(text)).toBe(
    'High at six. import duties are paid.\nImport is a word, export, too.\nimport duties rose in May.\nimport { Lamp } from "lamp";\n{/* kept */}',
  );
});

test('comments of MDX are left out, within a line and over several', () => {
  const text =
    '{/* TODO: secret\n\nmore secret */}\n\nThe lamp {/* secret */} burns.\n{/* secret */}\n\n- an item {/* secret */}\n\n`{/* kept */}`\n\n{/* no end';
  expect(textOf(text)).toBe('The lamp burns.\n- an item\n{/* kept */}\n{/* no end');
});

test.each([
  ['a statement that has no end', 'export const a = {\n\nThe text.', 'The text.'],
  ['statements without end', `${'export const a = {\n\n'.repeat(60_000)}The text.`, 'The text.'],
  ['comments without end', `${'{/*\n'.repeat(250_000)}The text.`, 'The text.'],
  ['comments with one end', `${'{/*\n'.repeat(250_000)}*/} The text.`, 'The text.'],
  ['comments with one end, in paragraphs', `${'{/*\n\n'.repeat(200_000)}*/}\n\nThe text.`, 'The text.'],
])('%s keep the text, and the reader ends', (_name, text, kept) => {
  expect(textOf(text).endsWith(kept)).toBe(true);
});
