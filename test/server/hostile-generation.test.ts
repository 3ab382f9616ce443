import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, type ClientSession, connect } from '../../src/client/index.js';
import { configSchema } from '../../src/config/schema.js';
import { silentLog } from '../../src/log/log.js';
import { LorekeepServer } from '../../src/server/server.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const file = temporaryFolder();

const deep = (levels: number) => {
  let schema: object = { type: 'null' };
  for (let i = 0; i < levels; i++) schema = { type: 'array', items: schema };
  return schema;
};
const wide = (count: number) => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'integer' }])),
});
const alternatives = (count: number) => ({
  anyOf: Array.from({ length: count }, (_, i) => ({ type: 'string', pattern: `^(a|b){${i},${i + 900}}$` })),
});

/** Values that each contain another one. */
const endless = {
  $defs: {
    a: { type: 'array', items: { $ref: '#/$defs/b' }, minItems: 1 },
    b: { type: 'array', items: { $ref: '#/$defs/a' }, minItems: 1 },
  },
  $ref: '#/$defs/a',
};
/** Rules of which each may begin with the next one, and the last one with the first. */
const circle = Array.from({ length: 1500 }, (_, i) => `r${i} ::= r${(i + 1) % 1500}?`);

/** Params that ask for too much, or for what cannot be, by the param to blame. */
const hostile: [string, object][] = [
  ['json_schema', deep(90)],
  ['json_schema', wide(6000)],
  ['json_schema', alternatives(500)],
  ['json_schema', { $ref: '#' }],
  ['json_schema', endless],
  ['json_schema', { type: 'string', pattern: '^.*a.{40}$' }],
  ['json_schema', { type: 'string', maxLength: 1e9 }],
  ['json_schema', { enum: Array.from({ length: 3000 }, (_, i) => `${i}${'x'.repeat(500)}`) }],
].map(([name, json_schema]) => [name as string, { json_schema }]);
const grammars: [string, object][] = [
  'root ::= root "a" | "a"',
  'root ::= a\na ::= b "x"\nb ::= a "y" | "z"',
  'root ::= "a" root',
  'root ::= (((("a"{1000}){1000}){1000}){1000})',
  `root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`,
  'root ::= missing',
  ['root ::= r0 "x"', ...circle].join('\n'),
  'root ::= e "a"\ne ::= n root | "z"\nn ::= "y"?',
  '',
  // Too dear for every model.
  'root ::= ("a"?){9000} "b"',
  'root ::= s\ns ::= [^b] s "b" | [^b] s "c" | [^b]\n',
].map((grammar) => ['grammar', { grammar }]);
const fallbacks: [string, object][] = [
  { json_schema: { type: 'integer' }, fallback: '"none"' },
  { grammar: 'root ::= "yes" | "no"', fallback: 'perhaps' },
].map((params) => ['fallback', { ...params, on_no_knowledge: 'fallback' }]);
const actions: [string, object][] = [
  ['actions', { actions: [{ name: 'open', parameters: deep(90) }] }],
  ['actions', { actions: [{ name: 'open', parameters: wide(6000) }] }],
];

describe('hostile requests to a generate node', () => {
  let server: LorekeepServer;
  let client: Client;
  let session: ClientSession;
  beforeAll(async () => {
    await writeTinyDecoder('llama', file('tiny.gguf'), { context: 512 });
    const models = [{ name: 'tiny', model_type: 'llm', variants: [{ file: 'tiny.gguf' }] }];
    writeFileSync(file('models.json'), JSON.stringify({ version: 1, models }));
    const config = configSchema.parse({
      port: 0,
      models_catalog_path: file('models.json'),
      // Its replies do not depend on neighbours in a step.
      engines: { llm_engine: { inference: { runtime: 'decoder' } } },
    });
    server = await LorekeepServer.start({ config, log: silentLog() });
    client = await connect({ port: server.port });
    session = await client.createSession();
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  const agentOf = (params: object) =>
    session.createAgent({
      graph: {
        nodes: [{ id: 'talker', type: 'generate', params: { system: '', temperature: 0, ...params } }],
      },
    });
  /** What a client reads meanwhile. */
  const bystander = async () => (await (await agentOf({ max_tokens: 24 })).turn('who lights the lamp')).text;

  it('are refused with the param to blame, and the replies of others stay as they were', async () => {
    const undisturbed = await bystander();
    expect(undisturbed).not.toBe('');
    for (const [name, params] of [...hostile, ...grammars, ...fallbacks, ...actions]) {
      const [error, other] = await Promise.all([refusal(agentOf(params)), bystander()]);
      // A frame that is nested too deeply is not read at all.
      const unread = error.code === 1001;
      expect([error.code, error.message]).toEqual([
        unread ? 1001 : 4003,
        expect.stringContaining(unread ? 'nested' : `params.${name}`),
      ]);
      expect(other).toBe(undisturbed);
    }
  });

  it('are taken with a fallback that the constraint allows', async () => {
    const params = { on_no_knowledge: 'fallback', json_schema: { type: 'integer' }, fallback: '-1' };
    expect((await (await agentOf(params)).turn('how many?')).text).toBe('-1');
  });

  it('that blow up while a reply is generated end that reply only', async () => {
    const undisturbed = await bystander();
    // 2^n stacks after 40 + n characters: more than are looked at when the agent is made.
    const grammar = 'root ::= [^b]{40} s\ns ::= [^b] s "b" | [^b] s "c" | [^b]\n';
    // Often enough that the failure meets a step that both share.
    for (let round = 0; round < 30; round++) {
      const agent = await agentOf({ grammar, max_tokens: 400 });
      const [turn, other] = await Promise.all([agent.turn('go on'), bystander()]);
      expect(turn.status).toMatch(/completed|failed/);
      expect(other).toBe(undisturbed);
      await agent.destroy();
    }
    expect(await bystander()).toBe(undisturbed);
  });

  it('with a message of ten million characters are refused with both numbers', async () => {
    const agent = await agentOf({});
    const text = 'All work and no play makes Jack a dull boy. '.repeat(230_000);
    const [error, other] = await Promise.all([refusal(agent.turn(text)), bystander()]);
    expect(error.message).toMatch(/\d/);
    expect(other).not.toBe('');
  });
});
