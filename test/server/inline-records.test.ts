import { describe, expect, it } from 'vitest';
import type { FilterExpression } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { TestServer } from './test-server.js';

const fields = [
  { name: 'year', type: 'int', default: 0 },
  { name: 'tags', type: 'set<string>', optional: true },
] as const;

const records = [
  { id: 'dance', text: 'Bees dance in the hive.', metadata: { year: 1999, tags: ['bees', 'dance'] } },
  { id: 'ice', text: 'Glaciers grind valleys.', metadata: { year: 2020, other: { deep: [1] } } },
  { id: 'dough', text: 'A starter is flour and water.' },
];

const source = { name: 'docs', embeddingModel: 'tiny' };

describe('an inline storage of records', () => {
  it('keeps their ids and typed metadata, for hits and filters', async () => {
    const session = await (await TestServer.start()).session();
    expect(await session.createEmbeddedStringStorage({ ...source, records, fields })).toMatchObject({
      recordCount: 3,
    });
    const { hits } = await session.search({ name: 'docs', text: 'bees dance', topK: 3 });
    expect(hits[0]).toMatchObject({ id: 'dance', metadata: { year: 1999, tags: ['bees', 'dance'] } });
    expect(new Map(hits.map(({ id, metadata }) => [id, metadata]))).toEqual(
      new Map([
        ['dance', { year: 1999, tags: ['bees', 'dance'] }],
        ['ice', { year: 2020 }],
        ['dough', { year: 0 }],
      ]),
    );
    const filter: FilterExpression = { '<': [{ knowledge: 'year' }, 2000] };
    const filtered = await session.search({ name: 'docs', text: 'glaciers', topK: 3, filter });
    expect(filtered.hits.map(({ id }) => id).sort()).toEqual(['dance', 'dough']);
    const similar = await session.search({ name: 'docs', similarTo: 'ice', topK: 1 });
    expect(similar.hits).toHaveLength(1);
  });

  it('drops metadata without fields, as a knowledge base does', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ ...source, records });
    const { hits } = await session.search({ name: 'docs', text: 'bees', topK: 1 });
    expect(hits[0]).not.toHaveProperty('metadata');
  });

  it('ranks agents, too, and equals a storage of the same strings', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ ...source, records });
    await session.createEmbeddedStringStorage({
      name: 'plain',
      embeddingModel: 'tiny',
      strings: records.map(({ text }) => text),
    });
    const of = async (name: string) =>
      (await session.search({ name, text: 'bees in valleys', topK: 3, mode: 'hybrid' })).hits.map(
        ({ text, score }) => [text, score],
      );
    expect(await of('docs')).toEqual(await of('plain'));
  });

  it('is refused with the place of the first mistake', async () => {
    const session = await (await TestServer.start()).session();
    const create = (more: object) =>
      refusal(session.createEmbeddedStringStorage({ ...source, ...more } as never));
    const [first, second] = records;
    const typed = (metadata: unknown) => ({ records: [{ ...first, metadata }], fields });
    const cases: [object, number, string | undefined][] = [
      [{}, 8004, undefined],
      [{ records, strings: ['a'] }, 8004, undefined],
      [{ records, configPath: 'kb.json' }, 8004, undefined],
      [{ strings: ['a'], fields }, 1004, 'fields'],
      [{ records: [] }, 8003, 'records'],
      [{ records: [first, 'text'] }, 1004, 'records[1]'],
      [{ records: [first, { ...second, score: 1 }] }, 1004, 'records[1].score'],
      [{ records: [{ id: 'a' }] }, 1004, 'records[0].text'],
      [{ records: [{ id: 7, text: 'a' }] }, 1004, 'records[0].id'],
      [{ records: [{ id: 'a', text: 'a', metadata: [] }] }, 1004, 'records[0].metadata'],
      [{ records: [first, { id: 'a', text: ' \n' }] }, 8003, 'records[1].text'],
      [{ records: [first, second, { ...second, id: 'dance' }] }, 8003, 'records[2].id'],
      [{ records, fields: [{ name: 'year', type: 'integer', optional: true }] }, 1004, 'fields[0].type'],
      [{ records, fields: [{ name: 'year', type: 'int' }] }, 1004, 'fields[0]'],
      [typed({ year: 'soon' }), 8003, 'records[0].metadata.year'],
      [typed({ tags: [1] }), 8003, 'records[0].metadata.tags'],
      [{ records, embeddingModel: 'tny' }, 8003, 'embedding_model'],
      [{ records, embeddingModel: undefined }, 8003, 'embedding_model'],
    ];
    for (const [more, code, path] of cases) {
      const error = await create(more);
      expect([error.code, error.details.path], JSON.stringify(more)).toEqual([code, path]);
    }
    // Each name is free again.
    expect(await session.createEmbeddedStringStorage({ ...source, records })).toMatchObject({
      recordCount: 3,
    });
  });
});
