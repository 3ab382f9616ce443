import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeModelServer } from '../helpers/fake-model-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { lorekeep } from './command.js';

const inFolder = temporaryFolder();
const secret = 'sk-this-is-the-secret';

/** A folder with a config and a catalog of remote models. */
async function folderOf() {
  const peer = await FakeModelServer.start();
  const folder = mkdtempSync(inFolder('cli-'));
  const remote = { url: peer.url, model: 'far-away', key_env: 'FAR_KEY', retries: 0 };
  const variants = [{ name: 'lab', context_size: 100, remote }];
  const models = ['embedding', 'llm', 'reranker'].map((model_type) => ({
    name: model_type === 'embedding' ? 'far' : `far-${model_type}`,
    model_type,
    variants,
  }));
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ version: 1, models }));
  writeFileSync(join(folder, 'server-config.json'), JSON.stringify({ models_catalog_path: 'models.json' }));
  const records = [{ id: 'a', text: 'bees dance' }];
  writeFileSync(join(folder, 'records.json'), JSON.stringify(records));
  const kb = { embedding_model: 'far', records_file: 'records.json', index_file: 'kb.index' };
  writeFileSync(join(folder, 'kb.json'), JSON.stringify(kb));
  const run = (args: string[]) =>
    lorekeep(args, { cwd: folder, env: { ...process.env, FAR_KEY: secret, NO_COLOR: '1' } });
  return { peer, run };
}

describe('lorekeep with a remote model', () => {
  it('lists it with its host and without its secret', async () => {
    const { peer, run } = await folderOf();
    const { host } = new URL(peer.url);
    const list = await run(['models', 'list', '--config', 'server-config.json']);
    expect(list.stdout).toMatch(new RegExp(`far +embedding +lab +remote, used +- +${host}`));
    const show = await run(['models', 'show', 'far', '--config', 'server-config.json']);
    expect(show.stdout).toContain(`from ${peer.url}`);
    const json = await run(['models', 'show', 'far', '--json', '--config', 'server-config.json']);
    for (const { stdout } of [list, show, json]) expect(stdout).not.toContain(secret);
    expect(peer.requests).toEqual([]);
    const pull = await run(['models', 'pull', 'far', '--config', 'server-config.json']);
    expect(pull.stderr).toContain(`"far" needs no download: the server ${host} computes it`);
  });

  it('builds and searches, and the doctor asks the server', async () => {
    const { peer, run } = await folderOf();
    expect(await run(['build', 'kb.json', '--config', 'server-config.json'])).toMatchObject({ status: 0 });
    const search = await run(['search', 'kb.json', 'bees', '--config', 'server-config.json']);
    expect(search.stdout).toMatch(/bees.* dance/);
    const doctor = await run(['doctor', '--config', 'server-config.json']);
    expect(doctor.stdout).toMatch(/model far +.*computed by http:\/\/127\.0\.0\.1:\d+\/v1/);
    expect(doctor.stdout).toMatch(/model far-llm +.*computed by[\s\S]*model far-reranker +.*computed by/);
    expect(peer.requests.slice(-3).map(({ path }) => path)).toEqual([
      '/v1/embeddings',
      '/v1/chat/completions',
      '/v1/rerank',
    ]);
    peer.stop();
    const later = await run(['doctor', '--config', 'server-config.json']);
    expect(later.stdout).toMatch(/model far[\s\S]*cannot be reached, or the connection was lost/);
    for (const { stdout, stderr } of [search, doctor, later]) expect(stdout + stderr).not.toContain(secret);
  });

  it('asks nobody if the config was only found in the current folder', async () => {
    // The package has no config of its own here, so the one of the current folder is used.
    const { peer, run } = await folderOf();
    const list = await run(['models', 'list']);
    expect(list.stdout).toMatch(/far +embedding +lab +refused/);
    const build = await run(['build', 'kb.json']);
    expect(build.stderr).toContain('name it with --config or LOREKEEP_CONFIG');
    expect(peer.requests).toEqual([]);
  });
});
