// Each field of each request at its limit, one request at a time, and the longest time for which the event loop did nothing else because of
// it: the server's own, without the time in which other programs had the processors.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startServer, wait } from '../../server/server-process.mjs';
import { Peer } from '../attacks/peer.mjs';
import { longStepsIn } from '../long-steps.mjs';
import { Sample, settingsOf } from '../sample.mjs';
import { fieldCases, remembering, shortCases } from './cases.mjs';

/** Longest stall of our own, in ms. */
const target = 50;
/** Longest wait for a reply, in ms. */
const answerMs = 180_000;
/** The server reports long steps within this time, in ms. */
const reportMs = 150;
const stallsModule = pathToFileURL(join(import.meta.dirname, '..', 'attacks', 'stalls.mjs')).href;

export const fields = {
  name: 'fields',
  what: 'each field of each request at its limit',
  aim: fieldCases.length,
  short: { count: shortCases, minutes: 0.2 },
  long: { count: fieldCases.length, minutes: 10 },
  async run({ folder, seed, count, until, short, say }) {
    const sample = await new Sample(join(folder, 'fields'), { seed, records: short ? 500 : 5000 }).write();
    await sample.build();
    const stalls = sample.at('stalls.txt');
    const watched = sample.at('long-steps.jsonl');
    const env = { ...process.env, LOREKEEP_STALLS: stalls, LOREKEEP_WATCHDOG: watched };
    const server = await startServer(sample.folder, settingsOf(sample), ['--import', stallsModule], { env });
    const outcomes = [];
    for (const { name, frame, agent } of fieldCases.slice(0, count)) {
      if (Date.now() > until || !server.running()) break;
      outcomes.push(await tried(name, { frame, agent }, server, stalls));
      await wait(reportMs);
      outcomes.at(-1).problems.push(...longStepsIn(watched));
      rmSync(watched, { force: true });
      say(`${name}: ${outcomes.at(-1).note}`);
    }
    const alive = server.running();
    const ended = await server.stop();
    // 1: a step took too long.
    if (!alive || (ended !== 0 && ended !== 1)) {
      const last = outcomes.at(-1);
      last.problems.push(`the server ended with ${ended}`);
      last.crashes = 1;
    }
    await sample.close();
    return short ? outcomes : outcomes.sort((one, other) => other.stall - one.stall);
  },
};

async function tried(name, { frame, agent }, server, stalls) {
  const peer = await Peer.open(server.port);
  const problems = [];
  const outcome = { case: name, unit: 'fields', tried: 1, problems };
  const ids = await idsFor(peer, frame, agent);
  await longestStall(server, stalls);
  const begun = performance.now();
  const reply = await Promise.race([answered(peer, { id: 'field', ...frame, ...ids }), wait(answerMs)]);
  const ms = performance.now() - begun;
  const { own = 0, ran = 0 } = await longestStall(server, stalls);
  peer.close();
  if (reply?.code === 1009) problems.push(`an internal error: ${reply.message}`);
  if (reply === undefined && server.running()) {
    problems.push('no answer');
    outcome.hangs = 1;
  }
  const told = reply === undefined ? 'no answer' : (reply.code ?? reply.status ?? reply.type);
  outcome.stall = ran;
  outcome.note = `${told} in ${ms.toFixed(0)} ms, stall ${own.toFixed(0)} ms (processor ${ran.toFixed(0)})${ran > target ? '; above target' : ''}`;
  return outcome;
}

/** A session, and the agent that a frame is about. */
async function idsFor(peer, { type, session_id, agent_id }, agent = remembering) {
  if (type === 'CreateSessionRequest' || session_id !== undefined) return {};
  const ids = { session_id: await peer.storage() };
  if (agent_id !== undefined && agent_id !== 'remembering') return ids;
  if (type !== 'TurnRequest' && agent_id === undefined) return ids;
  const made = await peer.request({ ...agent, id: 'agent', ...ids });
  return { ...ids, agent_id: made?.agent_id };
}

/** The last frame that a request brings: of a turn, its TurnComplete. */
async function answered(peer, frame) {
  const complete = frame.type === 'TurnRequest' ? peer.next('TurnComplete') : undefined;
  const reply = await peer.request(frame);
  return reply?.type === 'TurnStarted' ? complete : reply;
}

/** The longest stall since the last call. */
async function longestStall(server, file) {
  rmSync(file, { force: true });
  if (!server.running()) return {};
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(file) && server.running()) await wait(5);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}
