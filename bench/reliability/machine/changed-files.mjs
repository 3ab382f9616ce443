// Files changed in place under a server that has them open: truncated, overwritten, grown. The storage answers rightly or with an error, and
// the server lives.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../lorekeep.mjs';
import { answersOfSession, Sample } from '../sample.mjs';
import { withServer } from './with-server.mjs';

const generator = 'writer.gguf';
const names = ['kb.index', 'kb.bm25', 'records.json', 'kb.embeddings', 'tiny.gguf', generator];
const changes = {
  'truncated to nothing': (path) => truncateSync(path, 0),
  'truncated to half': (path, bytes) => truncateSync(path, Math.floor(bytes.length / 2)),
  'overwritten with zeros': (path, bytes) => writeFileSync(path, Buffer.alloc(bytes.length), { flag: 'r+' }),
  'overwritten with its own content, reversed': (path, bytes) =>
    writeFileSync(path, Buffer.from(bytes).reverse(), { flag: 'r+' }),
  'overwritten with ones': (path, bytes) =>
    writeFileSync(path, Buffer.alloc(bytes.length, 0xff), { flag: 'r+' }),
  'made longer': (path) => writeFileSync(path, 'x'.repeat(100_000), { flag: 'a' }),
};

export const changedFiles = {
  name: 'files changed in place',
  async run({ folder, seed, short }) {
    const own = await new Sample(join(folder, 'changed'), { seed, records: short ? 200 : 3000 }).write();
    await own.build();
    const whole = new Map(names.map((name) => [name, readFileSync(own.at(name))]));
    const total = {
      case: 'files changed in place',
      unit: 'changes',
      tried: 0,
      problems: [],
      crashes: 0,
      starved: 0,
    };
    const outcomes = { same: 0, refused: 0 };
    const ways = Object.entries(changes);
    for (const [n, name] of names.entries()) {
      for (const [what, change] of short ? [ways[n % ways.length]] : ways) {
        for (const [other, bytes] of whole) writeFileSync(own.at(other), bytes);
        const seen = await changed(own, name, what, change, outcomes);
        total.tried++;
        total.crashes += seen.crashes;
        total.problems.push(...new Set(seen.problems.map((text) => `${name} ${what}: ${text}`)));
      }
    }
    total.note = `${outcomes.same} times the answers stayed, ${outcomes.refused} times an error came`;
    await own.close();
    return total;
  },
};

const changed = (own, name, what, change, outcomes) =>
  withServer(what, own, { victim: false }, async ({ server, problem }) => {
    const client = await connect({ port: server.port });
    const session = await client.createSession();
    const { recordCount } = await session.createEmbeddedStringStorage({
      name: 'docs',
      configPath: 'kb.json',
    });
    const ask =
      name === generator
        ? await replies(session)
        : () => answersOfSession(session, 'docs', recordCount, own.questions);
    const before = await ask();
    change(own.at(name), readFileSync(own.at(name)));
    for (let times = 0; times < 3; times++) {
      try {
        if ((await ask()) === before) outcomes.same++;
        else problem('a wrong answer');
      } catch (error) {
        outcomes.refused++;
        if (error.code === undefined || error.code === 1009) problem(`${error.name}: ${error.message}`);
      }
    }
    await client.ping();
    await client.close();
  });

/** Returns a function that asks a language model for a reply, always the same one. */
async function replies(session) {
  const params = { temperature: 0, max_tokens: 20, history: { turns: 0 } };
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'reply', type: 'generate', params }] } });
  return async () => {
    const { text, error } = await agent.turn('bee');
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
    return text;
  };
}
