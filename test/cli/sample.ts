import { writeFileSync } from 'node:fs';

/** Records with what a terminal must not see, and texts of every width. */
const records = [
  {
    id: 'bees',
    text: 'Bees find flowers by colour, by scent and by the dance of their sisters.',
    metadata: { topic: 'insects', year: 1923 },
  },
  {
    id: 'honey',
    text: 'Honey is nectar that bees\n\thave dried and stored.',
    metadata: { topic: 'insects', year: 1950 },
  },
  {
    id: 'glacier',
    text: `${'Glaciers are rivers of ice. '.repeat(15)}Here no flowers grow. ${'Snow falls and is pressed. '.repeat(15)}`,
    metadata: { topic: 'ice', year: 9007199254740993n },
  },
  {
    id: 'hostile\u001b[31m',
    text: 'flowers \u001b]0;owned\u0007 \u001b[2J \u009b31m \u202e end',
    metadata: { topic: 'x' },
  },
  { id: 'wide', text: '蜜蜂通过颜色和气味找到花朵。'.repeat(12), metadata: { topic: 'insects' } },
  { id: 'family', text: 'A family 👩‍👩‍👧 and e\u0301 flowers.', metadata: { topic: 'x' } },
];

const config = {
  embedding_model: 'lorekeep-mini',
  records_file: 'records.json',
  index_file: 'kb.index',
  bm25_tokenizer: 'enhanced',
  search: { mode: 'hybrid', fusion: 'scores' },
  fields: [
    { name: 'topic', type: 'string', optional: true },
    { name: 'year', type: 'int', optional: true },
  ],
};

/** JSON in which integers beyond 2^53 are exact. */
const exactJson = (value: unknown): string =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `#${item}#` : item)).replace(
    /"#(\d+)#"/g,
    '$1',
  );

/** Writes a knowledge base; the path of its config. */
export function writeSample(inFolder: (name: string) => string, changes: object = {}): string {
  writeFileSync(inFolder('records.json'), exactJson(records));
  const path = inFolder('kb.json');
  writeFileSync(path, JSON.stringify({ ...config, ...changes }));
  return path;
}
