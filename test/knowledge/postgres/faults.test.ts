/** Backends that are killed while two processes' worth of clients search and change: of a real server alone. */
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel, LorekeepError } from '../../../lib/index.js';
import { type KnowledgeBase, openKnowledgeBase, PostgresConnections } from '../../../src/knowledge/index.js';
import { pushKnowledgeBase } from '../../../src/knowledge/postgres/transfer.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { isRealDatabase, testDatabase } from '../../helpers/postgres.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

if (!isRealDatabase)
  console.log('left out: killed backends; npm run test:postgres starts a server that has some');

const database = testDatabase();
const file = temporaryFolder();
const write = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value));
let model: EmbeddingModel;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 32 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  write('records.json', [{ id: 'fixed', text: 'honey bees dance' }]);
  const shared = { embedding_model: 'tiny', bm25_tokenizer: 'multilingual' };
  write('kb.json', { ...shared, records_file: 'records.json' });
  write('in-table.json', { ...shared, engine: { type: 'postgres', connection: 'main', table: 'faults' } });
  return () => model.close();
});

/** Ends every connection to the database but this one, and the statements that they run. */
const killBackends = () =>
  database.run(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

describe.skipIf(!isRealDatabase)('while backends are killed', () => {
  it('an acknowledged change stays, a failed one is there as a whole or not at all, and searches go on', async () => {
    const options = () => ({
      models: async () => model,
      connections: new PostgresConnections({ main: database.connection() }),
    });
    const [one, two] = [options(), options()];
    await pushKnowledgeBase(file('kb.json'), file('in-table.json'), { ...one, replace: true });
    const bases = await Promise.all([one, two].map((each) => openKnowledgeBase(file('in-table.json'), each)));
    const acknowledged = new Set<string>();
    const failed = new Set<string>();
    let searches = 0;
    let refused = 0;
    let ends = false;
    const expectOurs = (error: unknown) => {
      expect(error).toBeInstanceOf(LorekeepError);
      expect((error as LorekeepError).message).not.toMatch(/terminat|administrator|select|insert/i);
    };
    const change = async (kb: KnowledgeBase, writer: number) => {
      for (let n = 0; !ends; n++) {
        const id = `w${writer}-${n}`;
        // Two records of one batch: both or none.
        const add = [0, 1].map((part) => ({ id: `${id}-${part}`, text: `${words[n % words.length]} honey` }));
        try {
          await kb.add(add);
          acknowledged.add(id);
        } catch (error) {
          expectOurs(error);
          failed.add(id);
        }
      }
    };
    const search = async (kb: KnowledgeBase) => {
      while (!ends) {
        try {
          const { hits } = await kb.search({ text: 'honey bees dance', topK: 3 });
          expect(hits[0]?.id).toBe('fixed');
          searches++;
        } catch (error) {
          expectOurs(error);
          refused++;
        }
      }
    };
    const work = bases.flatMap((kb, writer) => [change(kb, writer), search(kb)]);
    let kills = 0;
    for (let round = 0; round < 60; round++) {
      await setTimeout(50);
      kills += (await killBackends()).length;
    }
    ends = true;
    await Promise.all(work);
    expect(kills).toBeGreaterThan(30);
    expect(searches).toBeGreaterThan(10);
    expect(acknowledged.size).toBeGreaterThan(10);
    console.log(
      `${kills} backends killed: ${searches} searches answered, ${refused} refused; ${acknowledged.size} changes acknowledged, ${failed.size} failed`,
    );
    const [kb] = bases as [KnowledgeBase];
    const ids = new Set((await kb.list({ limit: 10_000 })).map(({ id }) => id));
    for (const id of acknowledged) expect([ids.has(`${id}-0`), ids.has(`${id}-1`)], id).toEqual([true, true]);
    for (const id of failed) expect(ids.has(`${id}-0`), id).toBe(ids.has(`${id}-1`));
    // The statistics are those of the records.
    const { hits } = await kb.search({ text: 'honey', mode: 'lexical', topK: 1 });
    expect(hits).toHaveLength(1);
    const [{ documents, counted }] = (await database.run(
      'select b.documents::int as documents, (select count(*)::int from faults) as counted from faults_base b',
    )) as [{ documents: number; counted: number }];
    expect(documents).toBe(counted);
    const [{ wrong }] = (await database.run(
      `select count(*)::int as wrong from faults_terms t where t.documents <> (select count(*) from faults_words w where w.term = t.term)`,
    )) as [{ wrong: number }];
    expect(wrong).toBe(0);
    for (const each of bases) await each.close();
    await one.connections.close();
    await two.connections.close();
  });

  it('a cancelled search ends no other one', async () => {
    const connections = new PostgresConnections({ main: database.connection({ pool_size: 2 }) });
    const { client } = connections.find({ connection: 'main', table: 'faults' }, 'kb.json');
    const sleep = { text: 'select pg_sleep(0.02)', values: [] };
    let answered = 0;
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        if (n % 2 === 0) {
          const controller = new AbortController();
          setTimeout(5).then(() => controller.abort(new Error('enough')));
          await client
            .read(sleep, controller.signal)
            .catch(({ message }: Error) => expect(message).toBe('enough'));
        } else {
          await client.read(sleep);
          answered++;
        }
      }),
    );
    expect(answered).toBe(100);
    await connections.close();
  });

  it('of two pushes into an empty place, the second one is told that it is not empty', async () => {
    write('pushed.json', {
      embedding_model: 'tiny',
      bm25_tokenizer: 'multilingual',
      engine: { type: 'postgres', connection: 'main', table: 'pushed' },
    });
    const push = () => {
      const connections = new PostgresConnections({ main: database.connection() });
      const pushing = pushKnowledgeBase(file('kb.json'), file('pushed.json'), {
        models: async () => model,
        connections,
      });
      return pushing.finally(() => connections.close());
    };
    const ends = await Promise.allSettled([push(), push(), push()]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
