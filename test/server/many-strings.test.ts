import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel, type EmbedResult } from '../../lib/index.js';
import { repetitions } from '../helpers/repetitions.js';
import { corpus, strings } from './corpus.js';
import { TestServer } from './test-server.js';

const count = repetitions('STRINGS', 8000, 20_000);
const many = {
  name: 'many',
  strings: Array.from({ length: count }, (_, index) => `${corpus[index % corpus.length]?.text} ${index}`),
  embeddingModel: 'tiny',
};
const few = { name: 'few', strings, embeddingModel: 'tiny' };

/** A server, and a session in which a storage of many strings is being embedded. */
async function makeScene() {
  const server = await TestServer.start();
  const other = await server.session();
  await other.createEmbeddedStringStorage(few);
  const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled');
  onTestFinished(() => embed.mockRestore());
  const client = await server.connect();
  const session = await client.createSession();
  let made = false;
  const making = session.createEmbeddedStringStorage(many).finally(() => {
    made = true;
  });
  making.catch(() => {});
  await vi.waitFor(() => expect(embed).toHaveBeenCalled());
  const embedding = embed.mock.results[0]?.value as Promise<EmbedResult>;
  embedding.catch(() => {});
  return { server, other, client, session, making, isMade: () => made, embedding };
}

it('many strings become a storage, and other sessions search and make theirs before it is there', async () => {
  const { other, session, making, isMade } = await makeScene();
  for (let turn = 0; turn < 3; turn++) {
    const { hits } = await other.search({ name: 'few', text: corpus[1].question, mode: 'hybrid' });
    expect(hits[0]?.id).toBe('1');
  }
  expect(await other.createEmbeddedStringStorage({ ...few, name: 'more' })).toMatchObject({
    recordCount: 12,
  });
  expect(isMade(), 'others waited for the many strings').toBe(false);
  expect(await making).toEqual(expect.objectContaining({ recordCount: count, embeddingDim: 512 }));
  const last = await session.search({ name: 'many', text: `${count - 1}`, mode: 'lexical', topK: 1 });
  expect(last.hits).toMatchObject([{ id: `${count - 1}`, text: many.strings[count - 1] }]);
}, 300_000);

it('many strings are given up when their session is destroyed', async () => {
  const { other, session, making, embedding } = await makeScene();
  await session.destroy();
  await expect(making).rejects.toMatchObject({ code: 2002, name: 'SessionEnded' });
  await expect(embedding).rejects.toMatchObject({ name: 'AbortError' });
  expect((await other.search({ name: 'few', text: corpus[2].question })).hits[0]?.id).toBe('2');
});

it('many strings are given up when their connection is gone', async () => {
  const { server, other, client, embedding } = await makeScene();
  await client.close();
  await expect(embedding).rejects.toMatchObject({ name: 'AbortError' });
  while (server.server.connections > 1) await new Promise(setImmediate);
  expect((await other.search({ name: 'few', text: corpus[3].question })).hits[0]?.id).toBe('3');
});
