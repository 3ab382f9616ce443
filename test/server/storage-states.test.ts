import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientAgent, ClientSession } from '../../src/client/index.js';
import { createLog } from '../../src/log/log.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** Every transition that the specification has for storages, and how they meet. */

const file = temporaryFolder();
const path = 'kb/kb.json';

beforeAll(() => {
  mkdirSync(file('kb'), { recursive: true });
  writeFileSync(file(path), JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }));
  writeFileSync(file('kb/records.json'), JSON.stringify(strings.map((text, id) => ({ id: `${id}`, text }))));
});

interface Scene {
  session: ClientSession;
  /** State and holders of the storages from files, and how often one was loaded. */
  states(): { entries: [state: string, pins: number][]; loads: number };
}

async function makeScene(): Promise<Scene & { server: TestServer }> {
  let loads = 0;
  const log = createLog('info', { write: (line) => void (line.includes('"storage loaded"') && loads++) });
  const server = await TestServer.start({ log, config: { storage_root: file() } });
  const states = () => ({
    entries: server.server.storages.map(({ state, pins }): [string, number] => [state, pins]),
    loads,
  });
  return { server, session: await server.session(), states };
}

const createAgent = ({ session }: Scene, storage: string): Promise<ClientAgent> =>
  session.createAgent({ graph: retrieveGraph({ embedded_string_storage: storage }) });

const fromFile = ({ session }: Scene) =>
  session.createEmbeddedStringStorage({ name: 'docs', configPath: path });

const fromStrings = ({ session }: Scene) =>
  session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });

const finds = ({ session }: Scene) => session.search({ name: 'docs', text: 'bees' });

const notFound = { code: 8005, name: 'StorageNotFound' };

describe('a storage from a file', () => {
  it('(none) -> Pinned by an agent whose node names its path; -> OnDemand when the agent is destroyed', async () => {
    const scene = await makeScene();
    expect(scene.states()).toEqual({ entries: [], loads: 0 });
    const agent = await createAgent(scene, path);
    expect(scene.states()).toEqual({ entries: [['Pinned', 1]], loads: 1 });
    await agent.destroy();
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
  });

  it('(none) -> Pinned by its creation under a name, whatever agents come and go; -> OnDemand by its destruction', async () => {
    const scene = await makeScene();
    expect(await fromFile(scene)).toMatchObject({ recordCount: strings.length, embeddingDim: 512 });
    const agent = await createAgent(scene, 'docs');
    expect((await agent.turn('bees')).status).toBe('completed');
    await agent.destroy();
    expect(scene.states()).toEqual({ entries: [['Pinned', 1]], loads: 1 });
    await scene.session.destroyEmbeddedStringStorage('docs');
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
    await expect(finds(scene)).rejects.toMatchObject(notFound);
  });

  it('stays Pinned after its destruction while an agent holds it', async () => {
    const scene = await makeScene();
    await fromFile(scene);
    const agent = await createAgent(scene, 'docs');
    await scene.session.destroyEmbeddedStringStorage('docs');
    expect(scene.states()).toEqual({ entries: [['Pinned', 1]], loads: 1 });
    expect((await agent.turn('bees')).status).toBe('completed');
    await agent.destroy();
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
  });

  it('is one for all agents and sessions, and OnDemand when the last lets go', async () => {
    const scene = await makeScene();
    const other = { ...scene, session: await scene.server.session() };
    const agents = [await createAgent(scene, path), await createAgent(other, path)];
    await fromFile(scene);
    expect(scene.states()).toEqual({ entries: [['Pinned', 3]], loads: 1 });
    await agents[0]?.destroy();
    await scene.session.destroyEmbeddedStringStorage('docs');
    expect(scene.states()).toEqual({ entries: [['Pinned', 1]], loads: 1 });
    await agents[1]?.destroy();
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
  });

  it('OnDemand -> Pinned for the next that names it, without another load', async () => {
    const scene = await makeScene();
    await (await createAgent(scene, path)).destroy();
    await fromFile(scene);
    expect(scene.states()).toEqual({ entries: [['Pinned', 1]], loads: 1 });
  });

  it('is OnDemand, too, when the session of its holders ends', async () => {
    const scene = await makeScene();
    await fromFile(scene);
    await createAgent(scene, path);
    await scene.session.destroy();
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
  });

  it('is OnDemand, too, when their connection ends', async () => {
    const scene = await makeScene();
    const client = await scene.server.connect();
    await fromFile({ ...scene, session: await client.createSession() });
    const before = scene.server.server.connections;
    await client.close();
    while (scene.server.server.connections === before) await new Promise(setImmediate);
    expect(scene.states()).toEqual({ entries: [['OnDemand', 0]], loads: 1 });
  });
});

describe('a storage of strings', () => {
  it('(none) -> virtual by its creation, and nothing is written to disk', async () => {
    const scene = await makeScene();
    const before = readdirSync(file(), { recursive: true });
    expect(await fromStrings(scene)).toMatchObject({ recordCount: strings.length, embeddingDim: 512 });
    expect((await finds(scene)).hits[0]?.id).toBe('0');
    expect(readdirSync(file(), { recursive: true })).toEqual(before);
    expect(scene.states()).toEqual({ entries: [], loads: 0 });
  });

  it('virtual -> removed by its destruction', async () => {
    const scene = await makeScene();
    await fromStrings(scene);
    await scene.session.destroyEmbeddedStringStorage('docs');
    await expect(finds(scene)).rejects.toMatchObject(notFound);
    await expect(createAgent(scene, 'docs')).rejects.toMatchObject({ code: 3010 });
    await expect(scene.session.destroyEmbeddedStringStorage('docs')).rejects.toMatchObject(notFound);
  });

  it('virtual -> removed by the end of its session, and no other session ever sees it', async () => {
    const scene = await makeScene();
    await fromStrings(scene);
    const client = await scene.server.connect();
    await expect(finds({ ...scene, session: await client.createSession() })).rejects.toMatchObject(notFound);
    await scene.session.destroy();
    await expect(finds(scene)).rejects.toMatchObject({ code: 2001 });
    await expect(finds({ ...scene, session: await client.createSession() })).rejects.toMatchObject(notFound);
  });
});
