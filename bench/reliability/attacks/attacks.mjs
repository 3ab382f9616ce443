// Attacks on the memory of the server and on the time of others, each against a server of its own, with a well-behaved client beside it and
// a bare echo server for comparison. The client gets its right answers and never starves; the server neither ends nor keeps the memory.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { OptionError } from '../../harness/command-line.mjs';
import { startServer, wait } from '../../server/server-process.mjs';
import { longStepsIn } from '../long-steps.mjs';
import { Sample, settingsOf } from '../sample.mjs';
import { attackList } from './list.mjs';
import { hostileText } from './page.mjs';

const here = import.meta.dirname;
/** Most time above a bare echo, in ms. */
const targets = { ping: 20, search: 50, stall: 50 };

export const attacks = {
  name: 'attacks',
  what: 'attacks on memory and on the time of others, beside a well-behaved client',
  aim: attackList.length,
  short: { count: 3, minutes: 0.35 },
  long: { count: attackList.length, minutes: 20 },
  /** `count` is how many of the attacks run, `minutes` how long all of them together. */
  async run({ folder, seed, count, until, short, cases = '', say }) {
    const sample = await new Sample(join(folder, 'kb'), { seed, records: short ? 500 : 5000 }).write();
    await sample.build();
    sample.writeLong();
    const chosen = chosenAttacks(cases, count);
    const ms = Math.min(10_000, ((until - Date.now()) / chosen.length) * 0.3);
    const outcomes = [];
    const end = async (ending) => {
      if (ending === undefined) return;
      outcomes.push(await ending.outcome);
      say(`${outcomes.at(-1).case}: ${outcomes.at(-1).note}`);
    };
    let last;
    for (const attack of chosen) {
      if (Date.now() > until) break;
      const next = await beginAttack(attack, sample, { ms, seed, settleMs: short ? 500 : 60_000 });
      await end(last);
      last = next;
    }
    await end(last);
    await sample.close();
    return outcomes;
  },
};

/** The attacks whose name contains `cases`, `count` of them at most. @throws OptionError if there are none */
export function chosenAttacks(cases, count) {
  const chosen = attackList.filter(({ name }) => name.includes(cases)).slice(0, count);
  if (chosen.length === 0) throw new OptionError(`--cases ${cases}: no attack has that in its name`);
  return chosen;
}

let attacksBegun = 0;

/** @param settleMs how long after the attack memory may take to be given back */
export const runAttack = async (...args) => (await beginAttack(...args)).outcome;

/** Resolves when the attack is over. `outcome` does when its server, which nobody uses any more, has given memory back and ended. */
async function beginAttack(
  attack,
  sample,
  { ms, seed, settleMs, settings = attack.settings ?? {}, flags = [], wrapper = [], env: extra = {}, build },
) {
  const stalls = sample.at(`stalls-${++attacksBegun}.txt`);
  const preload = ['--import', pathToFileURL(join(here, 'stalls.mjs')).href];
  const watched = sample.at(`long-steps-${attacksBegun}.jsonl`);
  const door = attack.door ? await freePort() : 0;
  const values = {
    ...settingsOf(sample),
    ...(attack.door && doorSettings(sample, door, attack.page)),
    ...settings,
  };
  const env = { ...process.env, LOREKEEP_STALLS: stalls, LOREKEEP_WATCHDOG: watched, ...extra };
  const server = await startServer(sample.folder, values, [...flags, ...preload], { env, wrapper, build });
  const echo = fork(join(here, 'echo.mjs'));
  const witness = fork(
    join(here, 'witness.mjs'),
    [server.port, await told(echo), JSON.stringify(sample.questions)].map(String),
  );
  await told(witness);
  await wait(Math.min(1500, ms));
  const calm = await asked(witness, 'go on');
  const before = server.memory().anonymous;
  await longestStall(server, stalls);
  const peak = watchMemory(server);
  const code = attack.page ? await pageCode(server) : '';
  const attacker = fork(
    join(here, 'attacker.mjs'),
    [server.port, attack.name, ms, seed, sample.words.join(' '), door, code].map(String),
  );
  const found = [];
  attacker.on('message', (problem) => found.push(problem));
  await new Promise((done) => attacker.once('close', done));
  const during = await asked(witness, 'go on');
  await wait(Math.min(aftermathMs, settleMs));
  const seen = { ...during, ...joined(during, await asked(witness, 'end')) };
  echo.disconnect();
  const outcome = async () => {
    const after = await settled(server, before, settleMs);
    const stall = await longestStall(server, stalls);
    const alive = server.running();
    const ended = await server.stop();
    const long = longStepsIn(watched);
    const measured = {
      calm,
      seen,
      stall,
      alive,
      ended,
      long,
      found,
      memory: { before, peak: peak.stop(), after },
    };
    return judged(attack, measured);
  };
  return { outcome: outcome() };
}

/** The doors of a server, with a storage of their own. `page`: as in page.mjs. */
function doorSettings(sample, port, page = false) {
  mkdirSync(sample.at('own'), { recursive: true });
  rmSync(sample.at('own/records.json.changes'), { force: true });
  writeFileSync(
    sample.at('own/records.json'),
    JSON.stringify([{ id: 'bee', text: 'A bee.' }, ...(page ? [{ id: 'hostile', text: hostileText }] : [])]),
  );
  const base = { version: 1, embedding_model: 'tiny', records_file: 'records.json', long_text: 'truncate' };
  writeFileSync(sample.at('own/kb.json'), JSON.stringify(base));
  const storages = { own: { config: sample.at('own/kb.json'), writable: true } };
  const http = { enabled: true, port, storages };
  if (!page) return { storage_writes: 'files', http };
  const keys = [{ name: 'nobody', key: randomBytes(24).toString('hex'), rights: ['search'] }];
  writeFileSync(sample.at('keys.json'), JSON.stringify({ keys }), { mode: 0o600 });
  return { storage_writes: 'files', http: { ...http, page, keys_file: sample.at('keys.json') } };
}

/** The code of the page in the file that the server's log names. */
async function pageCode(server) {
  let file;
  while (file === undefined && server.running()) {
    file = /file:[^"\s]+\.html/.exec(server.printed())?.[0];
    await wait(10);
  }
  return /name="code" value="([\w-]+)"/.exec(readFileSync(fileURLToPath(file), 'utf8'))[1];
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** How long the client stays after the attack, while the server closes and collects its leftovers. */
const aftermathMs = 3000;

/** A client's results during and after the attack; times count only during it. */
function joined(during, afterwards) {
  const failed = during.failed ?? afterwards.failed;
  if (failed !== undefined) return { failed, problems: undefined };
  return {
    problems: [...during.problems, ...afterwards.problems],
    starved: during.starved + afterwards.starved,
    slowest: Math.max(during.slowest, afterwards.slowest),
  };
}

/** Memory in KiB that a server may hold after a burst, given its memory before. */
const allowed = (before) => 1.5 * before + 32 * 1024;

/** Memory of the server as soon as it is within the target, or when the time is up. */
async function settled(server, before, ms) {
  const late = Date.now() + ms;
  for (;;) {
    const held = server.running() ? server.memory().anonymous : 0;
    if (held <= allowed(before) || Date.now() > late) return held;
    await wait(Math.min(500, ms));
  }
}

function judged(
  { name },
  { calm, seen, stall: { stall, own, ran } = {}, alive, ended, long, found, memory },
) {
  const problems = (seen.problems ?? [`the client could not come back: ${seen.failed}`]).map(
    (what) => `beside: ${what}`,
  );
  problems.push(...long, ...found);
  if (!alive) problems.push(`the server ended with ${ended}`);
  const { echoP99 = 0, pingP99, searchP99, gapP99, starved = 0 } = seen;
  const misses = [
    pingP99 > echoP99 + targets.ping && 'ping',
    searchP99 > echoP99 + targets.search && 'search',
    own > targets.stall && 'stall',
    memory.after > allowed(memory.before) && 'memory',
  ].filter(Boolean);
  const show = (value) => (value === undefined ? '-' : value.toFixed(value < 10 ? 1 : 0));
  const note =
    `ping p99 ${show(calm.pingP99)} -> ${show(pingP99)} ms (echo ${show(echoP99)}), search p99 ${show(calm.searchP99)} -> ` +
    `${show(searchP99)} ms, gap p99 ${show(calm.gapP99)} -> ${show(gapP99)} ms, slowest ${show(seen.slowest)} ms, stall ${show(stall)} ms (own ${show(own)}, ran ${show(ran)}), memory ${mib(memory.before)}, ${mib(memory.peak)}, ${mib(memory.after)} MiB` +
    (misses.length > 0 ? `; above target: ${misses.join(', ')}` : '');
  const measured = { calm, seen, stall, own };
  return {
    case: name,
    unit: 'attacks',
    tried: 1,
    problems,
    starved,
    crashes: alive ? 0 : 1,
    note,
    misses,
    measured,
  };
}

const mib = (kib) => Math.round(kib / 1024);
const told = (child) => new Promise((done) => child.once('message', done));

function asked(child, message) {
  const answer = told(child);
  child.send(message);
  return Promise.race([
    answer,
    new Promise((done) => child.once('close', () => done({ failed: 'its process ended' }))),
  ]);
}

/** Longest time in ms to wait for a server to tell its stalls: it may be in one. */
const tellingMs = 15_000;

/** The longest stall since the last call; undefined if the server does not tell. */
async function longestStall(server, file) {
  rmSync(file, { force: true });
  if (!server.running()) return undefined;
  process.kill(server.pid, 'SIGUSR2');
  const late = Date.now() + tellingMs;
  while (!existsSync(file) && server.running() && Date.now() < late) await wait(20);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function watchMemory(server) {
  let most = 0;
  const timer = setInterval(() => {
    if (server.running()) most = Math.max(most, server.memory().anonymous || 0);
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}
