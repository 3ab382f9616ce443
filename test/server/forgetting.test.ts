/** The text of a forgotten record leaves what the server keeps beside the storage. */
import { expect, test } from 'vitest';
import type { Component } from '../../src/agents/component.js';
import { ForgottenTexts } from '../../src/agents/forgotten-texts.js';
import { AgentHistory } from '../../src/agents/history.js';
import { Interaction } from '../../src/agents/interaction.js';
import type { TurnFacts } from '../../src/agents/turn-facts.js';
import { TurnRing } from '../../src/operations/monitor/turn-ring.js';
import type { SinkConfig } from '../../src/operations/telemetry/consent.js';
import { newEventSource, turnEvent } from '../../src/operations/telemetry/events.js';
import { Sink } from '../../src/operations/telemetry/sink.js';
import { Forgetting } from '../../src/server/forgetting.js';
import { Ingest } from '../telemetry/ingest.js';

const secret = 'The owl hides the amber key. "It\nis" below the third stone.';
const texts = await ForgottenTexts.of([secret]);
const holding = { add() {}, settle() {}, release() {} };

const facts: TurnFacts = {
  turn: 's1.t1',
  agent: 's1.a1',
  status: 'completed',
  code: undefined,
  queuedMs: 0,
  durationMs: 1,
  nodes: [],
  engine: () => [],
  skipped: 0,
  hits: 0,
  citations: 0,
  components: [],
  message: 'where is the key?',
  reply: 'an answer',
};

test('a text is recognised whole, in its sentences, and in JSON', async () => {
  expect(await texts.within(`before ${secret} after`)).toBe(true);
  expect(await texts.within('The owl hides the amber key.')).toBe(false);
  expect(await texts.quotedBy('As I said, the OWL hides\n the amber key. Go!')).toBe(true);
  expect(await texts.quotedBy('The owl hides.')).toBe(false);
  expect(await texts.quotedBy('Well, the owl hides the amber key, but')).toBe(true);
  expect(await texts.quotedByJsonOf({ reply: '“The owl hides the amber key”, it says' })).toBe(true);
  expect(await texts.quotedByJsonOf({ reply: secret })).toBe(true);
  expect(await texts.quotedByJsonOf({ reply: 'an owl' })).toBe(false);
  expect(await (await ForgottenTexts.of(['', ' '])).quotedBy('anything')).toBe(false);
  const marks = await ForgottenTexts.of(['- PIN 4711.', '?!', '-'.repeat(100_000)]);
  for (const [said, isQuote] of [
    ['the pin 4711, yes', true],
    ['pin 471', false],
    ['what?!', true],
    ['what?', false],
  ])
    expect(await marks.quotedBy(said as string), said as string).toBe(isQuote);
});

test('sentences of scripts without blanks between them are recognised', async () => {
  const sentences = [
    '琥珀色の鍵はふくろうが庭の三番目の石の下に隠している。',
    '蜂は花の場所を仲間に教えるために巣の中で長く踊る。',
  ];
  const japanese = await ForgottenTexts.of([sentences.join('')]);
  for (const sentence of sentences) expect(await japanese.quotedBy(`はい、${sentence}`)).toBe(true);
});

test('a text that was cut within a forgotten sentence quotes it', async () => {
  const cut = secret.slice(0, 24);
  expect(await texts.quotedBy(`I said: ${cut}`)).toBe(true);
  expect(await texts.quotedByJsonOf({ reply: cut, more: 'x' })).toBe(true);
  expect(await texts.quotedByJsonOf({ reply: `${cut} and more` })).toBe(false);
  expect(await texts.within(cut)).toBe(false);
});

test('hostile records are looked for in time that grows with their texts', async () => {
  const alike = (n: number) => `the same beginning of every sentence ${n}. `;
  const record = Array.from({ length: 50_000 }, (_, n) => alike(n)).join('');
  const many = await ForgottenTexts.of([record, `${'a'.repeat(1_000_000)}b`]);
  const said = `${'a'.repeat(2_000_000)} the same beginning of every sentence x`;
  expect(await many.quotedBy(`${said} ${alike(49_999)}`)).toBe(true);
  expect(await many.quotedBy('the same beginning of another sentence')).toBe(false);
  // It would have to be compared with all of them at every place, so it counts as one that quotes.
  const alikeAlone = 'the same beginning of every sentence '.repeat(1000);
  expect(await many.quotedByJsonOf({ reply: alikeAlone })).toBe(true);
});

test('a turn loses the record, also where a node appends it later', async () => {
  const hit = (id: string, text: string) =>
    ({ _type: 'knowledge', node: 'find', storage: 'kb', id, text, rank: 1 }) as unknown as Component;
  const interaction = new Interaction('where?', {});
  interaction.append([hit('a', secret), hit('b', 'Bees dance.')]);
  const ids = () =>
    interaction.components.flatMap((each) => ('id' in each ? [(each as { id: string }).id] : []));
  expect(await interaction.forget(texts)).toBe(true);
  expect(ids()).toEqual(['b']);
  interaction.append([hit('c', secret), hit('d', 'Ice flows.')]);
  expect(await interaction.dropForgotten()).toBe(true);
  expect(ids()).toEqual(['b', 'd']);
  interaction.replaceKnowledge([hit('c', secret), hit('b', 'Bees dance.')]);
  await interaction.dropForgotten();
  expect(ids()).toEqual(['b']);
  expect(await interaction.forget(await ForgottenTexts.of(['Tea steeps.']))).toBe(false);
});

test('a turn loses citations of the record, and the record beside another hit', async () => {
  const hit = { _type: 'knowledge', node: 'find', storage: 'kb', id: 'a', text: secret, rank: 1 };
  const beside = { before: [{ id: 'a', text: secret }], after: [{ id: 'c', text: 'Ice flows.' }] };
  const interaction = new Interaction('where?', {});
  interaction.append([hit, { ...hit, id: 'b', text: 'Bees dance.', context: beside }] as Component[]);
  const cited = (id: string) => ({ node: 'say', storage: 'kb', id }) as never;
  for (const id of ['a', 'b']) {
    interaction.citations.push(cited(id));
    interaction.used.push(cited(id));
  }
  await interaction.forget(texts);
  expect([interaction.citations, interaction.used]).toEqual([[cited('b')], [cited('b')]]);
  expect(interaction.components.slice(1)).toMatchObject([
    { id: 'b', context: { before: [], after: [{ id: 'c' }] } },
  ]);
});

test('histories that quote it are named, and removed where that is asked for', async () => {
  const turn = (reply: string) => ({ text: 'where?', reply });
  const turns = [turn('the owl hides the amber key.'), turn('no'), turn(secret)];
  const history = new AgentHistory(10, holding, turns);
  const forgetting = new Forgetting({ info() {} } as never);
  const leave = forgetting.join({
    client: {},
    forgetTexts: async (forgotten, removed) => [
      { session: 's1', agent: 's1.a1', turns: await history.quoting(forgotten, removed), removed },
    ],
  });
  const forget = (histories: boolean) => forgetting.forget({ ids: ['a'], texts: [secret], histories });
  expect(await forget(false)).toMatchObject([{ turns: [1, 3], removed: false }]);
  expect(history.turns).toHaveLength(3);
  expect(await forget(true)).toMatchObject([{ turns: [1, 3], removed: true }]);
  expect(history.turns).toEqual([turn('no')]);
  expect(await forget(false)).toMatchObject([{ turns: [] }]);
  leave();
  expect(await forget(false)).toEqual([]);
});

test('the ring of turns loses it, in turns of any age', async () => {
  const ring = new TurnRing(600, true);
  const reply = (text: string) => [{ _type: 'character_reply', node: 'a', text }];
  for (let n = 0; n < 600; n++)
    ring.add({ ...facts, turn: `t${n}`, components: reply(n % 100 === 0 ? secret : `reply ${n}`) as never });
  await ring.forget(texts);
  const kept = ring.after(0);
  expect(kept).toHaveLength(600);
  expect(kept.some(({ json }) => json.includes('amber'))).toBe(false);
  expect(JSON.parse(kept[0]?.json as string)).toMatchObject({ turn: 't0', durationMs: 1 });
  expect(kept.filter(({ json }) => json.includes('reply '))).toHaveLength(594);
});

test('the ring loses what it has of a text that is longer than it keeps', async () => {
  const long = `The owl hides ${'amber keys and '.repeat(500)}more`;
  const ring = new TurnRing(2, true);
  ring.add({ ...facts, components: [{ _type: 'knowledge', node: 'a', text: long }] as never });
  ring.add({ ...facts, message: `Keep this: ${long}` });
  await ring.forget(await ForgottenTexts.of([long]));
  expect(ring.after(0).some(({ json }) => json.includes('amber'))).toBe(false);
});

test('events of telemetry that wait lose it', async () => {
  const ingest = await Ingest.listen();
  const source = newEventSource('1.0.0', true);
  const config: SinkConfig = {
    kind: 'analytics',
    enabled: true,
    endpoint: ingest.url,
    project_api_key: 'key',
    batch_max_records: 50,
    batch_max_ms: 3_600_000,
    queue_capacity: 5000,
    shutdown_flush_ms: 60_000,
  };
  const sink = new Sink({ config, source, onProblem: () => {} });
  for (const reply of [secret, 'an answer']) sink.add(turnEvent(source, { ...facts, reply }));
  await sink.drop((event) => texts.quotedByJsonOf(event));
  await sink.close();
  expect(ingest.events).toHaveLength(1);
  expect(JSON.stringify(ingest.events)).not.toContain('amber');
});
