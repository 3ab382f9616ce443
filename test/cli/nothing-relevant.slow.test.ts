import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const notes = {
  lamp: 'Mira lights the lamp at night.',
  ferry: 'The ferry leaves at seven in the morning and returns at noon.',
  bread: 'Bread is baked with flour, water and salt.',
  fee: 'The annual fee of the harbour is 80 crowns.',
};
let kb = '';

const output = temporaryFolder();

it('an index states the relevance that nonsense reaches in it', async () => {
  for (const [name, text] of Object.entries(notes)) writeFileSync(inFolder(`${name}.txt`), text);
  const { status, stderr } = await lorekeep(['index', inFolder(), '--output', output('kb')]);
  expect(status, stderr).toBe(0);
  kb = output('kb', 'kb.json');
  const config = JSON.parse(readFileSync(kb, 'utf8'));
  const { search, bm25_tokenizer } = config;
  expect(bm25_tokenizer).toBe('multilingual');
  expect(Object.keys(search.min_best)).toEqual(['dense', 'lexical']);
  for (const mode of ['dense', 'lexical']) {
    expect(search.min_best[mode]).toBeGreaterThan(0.003);
    // By a leg in hybrid mode less may pass: there are two.
    expect(search.min_by_leg[mode]).toBeGreaterThan(search.min_best[mode]);
  }
});

it.each(['asdf qwer zxcv', 'blorp fnord quux', 'best javascript framework'])(
  '%s finds nothing',
  async (text) => {
    const { stdout, stderr } = await lorekeep(['search', kb, text]);
    expect(stdout).toBe('');
    expect(stderr).toContain('nothing relevant found; --min-best 0 shows the nearest records');
    expect((await lorekeep(['search', kb, text, '--min-best', '0'])).stdout).toMatch(/^1 /m);
  },
);

it('a search by words that finds nothing relevant says so, though a record has one of them', async () => {
  const { stderr } = await lorekeep(['search', kb, '--mode', 'lexical', 'blorp the quux fnord']);
  expect(stderr).toContain('nothing relevant found; --min-best 0 shows the nearest records');
  expect(stderr).not.toContain('no record');
});

it.each([
  ['who lights the lamp?', 'lamp'],
  ['when does the boat depart?', 'ferry'],
  ['how do I make a loaf?', 'bread'],
  ['what does a berth cost per year?', 'fee'],
])('%s finds %s, with its relevance', async (text, name) => {
  const { stdout } = await lorekeep(['search', kb, text]);
  const [titles, first] = stdout.split('\n');
  expect(titles).toContain('relevance');
  expect(first).toContain(`${name}.txt`);
});

it('a search by words says so too, when records have only frequent words of the query', async () => {
  const query = 'is there a doctor?';
  const { stdout, stderr } = await lorekeep(['search', kb, query, '--mode', 'lexical']);
  expect(stdout).toBe('');
  expect(stderr).toContain('nothing relevant found; --min-best 0 shows the nearest records');
});

it('a conversation says so in words, and in JSON', async () => {
  const stdin = 'blorp fnord quux\nwho lights the lamp?\n';
  const { stdout } = await lorekeep(['chat', kb], { stdin });
  expect(stdout).toMatch(/^nothing relevant found\nMira lights the lamp at night\.\n/);
  const [first, second] = (await lorekeep(['chat', kb, '--json'], { stdin })).stdout.trim().split('\n');
  expect(JSON.parse(first as string)).toMatchObject({ text: '', message: 'nothing relevant found' });
  expect(JSON.parse(second as string).message).toBeUndefined();
});
