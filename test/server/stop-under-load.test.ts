import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { Program } from './program.js';
import { RawClient } from './raw-client.js';

const inFolder = temporaryFolder();
const words = ['bee', 'comb', 'hive', 'wax', 'swarm'];
const text = (n: number) => `${words[n % 5]} ${words[(n >> 3) % 5]} ${n}`;
/** More than this machine can embed and link in `longest`. */
const records = Array.from({ length: 100_000 }, (_, n) => ({ id: `${n}`, text: text(n) }));

/** Time in ms after which a server did not obey: a hundred times what it may take for requests to end. The work takes longer. */
const longest = 30_000;
const drainMs = 300;

const asked = (client: RawClient, frame: { id: number } & Record<string, unknown>) =>
  client.request<never>(frame) as Promise<Record<string, unknown>>;

async function start(): Promise<{ program: Program; client: RawClient; session_id: unknown }> {
  await createTinyModel({ texts: [words.join(' ')], path: inFolder('tiny.gguf'), dimension: 64 });
  await writeTinyDecoder('llama', inFolder('writer.gguf'), { context: 8192 });
  const model = (name: string, model_type: string) => ({
    name,
    model_type,
    variants: [{ file: `${name}.gguf` }],
  });
  const catalog = { version: 1, models: [model('tiny', 'embedding'), model('writer', 'llm')] };
  writeFileSync(inFolder('models.json'), JSON.stringify(catalog));
  writeFileSync(inFolder('records.json'), JSON.stringify(records));
  writeFileSync(
    inFolder('kb.json'),
    JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }),
  );
  writeFileSync(
    inFolder('patterns.txt'),
    Array.from({ length: 900 }, (_, n) => `${'(\\pL+\\s*)'.repeat(9)}[${n}]\\d[yz]`).join('\n'),
  );
  const config = {
    ...{ port: 0, logs_dir: '', log_level: 'info', storage_root: inFolder('.') },
    ...{ models_catalog_path: inFolder('models.json'), limits: { drain_timeout_ms: drainMs } },
  };
  writeFileSync(inFolder('config.json'), JSON.stringify(config));
  const program = Program.run('dist/src/cli/main.js', 'serve', '--config', inFolder('config.json'));
  const port = Number((await program.printed(/"port":(\d+)/))[1]);
  await program.printed(/"msg":"listening"/);
  const client = await RawClient.connect(port);
  const { session_id } = await asked(client, {
    type: 'CreateSessionRequest',
    id: 1,
  });
  return { program, client, session_id };
}

const turnsOf = (node: object, frame: object) => async (client: RawClient, session_id: unknown) => {
  const graph = { nodes: [{ id: 'n', ...node }] };
  const create = { type: 'CreateAgentRequest', id: 2, session_id, graph };
  const reply = await asked(client, create);
  const { agent_id } = reply;
  expect(agent_id, JSON.stringify(reply)).toBeDefined();
  for (let id = 3; id < 7; id++)
    await client.request({ type: 'TurnRequest', id, session_id, agent_id, ...frame });
};

/** The dearest work of each kind that a client may ask for. */
const kinds: Record<string, (client: RawClient, session_id: unknown) => Promise<void> | void> = {
  'texts are embedded': (client, session_id) =>
    client.send({
      ...{ type: 'CreateEmbeddedStringStorageRequest', id: 2, session_id, name: 's' },
      ...{ strings: records.map((record) => record.text), embedding_model: 'tiny' },
    }),
  'a knowledge base is indexed': (client, session_id) =>
    client.send({
      ...{ type: 'CreateEmbeddedStringStorageRequest', id: 2, session_id, name: 's', config_path: 'kb.json' },
    }),
  'records are added': async (client, session_id) => {
    const storage = { session_id, name: 's' };
    const made = { strings: ['bee'], embedding_model: 'tiny' };
    await client.request({ type: 'CreateEmbeddedStringStorageRequest', id: 2, ...storage, ...made });
    for (let id = 3; id < 10; id++) {
      const add = records.slice(id * 10_000, (id + 1) * 10_000);
      client.send({ type: 'UpdateEmbeddedStringStorageRequest', id, ...storage, add });
    }
  },
  'replies follow a dear grammar': turnsOf(
    {
      type: 'generate',
      params: {
        grammar: 'root ::= ([!-@]?){3000} [!-@]{6000}',
        max_tokens: 7000,
        temperature: 1,
        history: { turns: 0 },
      },
    },
    { text: 'once' },
  ),
  'patterns are searched for': turnsOf(
    { type: 'regex_guardrail', params: { string_storage: 'patterns.txt' } },
    { text: 'ab '.repeat(40_000) },
  ),
};

describe.skipIf(process.platform === 'win32')('a server that is stopped while', () => {
  it.each(Object.entries(kinds))('%s ends when the time for requests is over', async (_, ask) => {
    const { program, client, session_id } = await start();
    await ask(client, session_id);
    // The request is under way when a later one has been answered, other than a ping, which overtakes requests.
    await client.request({ type: 'CreateSessionRequest', id: 99 });
    program.child.kill('SIGTERM');
    const giveUp = new AbortController();
    const late = pause(longest, 'still runs', { signal: giveUp.signal }).catch(() => '');
    expect(await Promise.race([program.ended, late])).toEqual({ code: 0, signal: null });
    giveUp.abort();
    client.destroy();
    expect(program.stdout).toContain('cancelling requests that did not end in time');
  });
});
