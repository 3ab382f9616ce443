// SIGKILL at the system calls with which builds and servers change files: before each, with half of it done, and after it. Readers run
// all the time. After each kill the knowledge bases open and answer as before (or as the new state does), nothing else in the folder
// has changed, and the next run of the same program leaves no temporary file.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { OptionError } from '../../harness/command-line.mjs';
import { LorekeepError } from '../../lorekeep.mjs';
import { Random } from '../random.mjs';
import { Sample } from '../sample.mjs';
import { linesOf, stepper, trace } from '../trace/stepper.mjs';
import { converse, scenarios } from './scenarios.mjs';

const hows = ['before', 'torn', 'after'];
const products = /^(kb\.(index|bm25|embeddings)|plain\.bm25)(\.\d+-\d+\.tmp)?$|^(cache|logs)\/|^trace\.txt$/;
/** What changes of records write besides. */
const logProducts =
  /^(records\.json|kb\.index|kb\.bm25|kb\.embeddings)(\.changes(\.(lock|forgetting|forgotten|bm25))?|\.merging)?(\.\d+-\S+\.tmp)?$/;
/** The log in which a build of another records file counts the next version. */
const versionLog = /^records\.json\.changes(\.lock)?(\.\d+-\S+\.tmp)?$/;
const temporary = /\.(tmp|merging)$/;

export const kills = {
  name: 'kills',
  what: 'SIGKILL at system calls of builds and of a server that writes, with readers in a loop',
  aim: 1000,
  short: { count: 6, minutes: 0.2 },
  long: { count: 1000, minutes: 40 },
  async run({ folder, seed, count, until, cases = '', say }) {
    const chosen = scenarios.filter(({ name }) => name.includes(cases));
    if (chosen.length === 0) throw new OptionError(`--cases ${cases}: no scenario has that in its name`);
    const tool = stepper();
    if (tool.reason) return [{ case: 'all', skipped: tool.reason }];
    const campaign = new KillCampaign(await prepared(join(folder, 'kills'), seed), tool.path, { seed, say });
    try {
      return await campaign.run(chosen, count, until);
    } finally {
      await campaign.close();
    }
  },
};

async function prepared(folder, seed) {
  const sample = await new Sample(folder, { seed }).write();
  sample.changedRecords = sample.makeRecords();
  sample.writeJson('questions.json', { questions: sample.questions });
  const own = {
    models_catalog_path: 'models.json',
    storage_root: '.',
    logs_dir: 'logs',
    log_flush_on: 'trace',
  };
  sample.writeJson('server-config.json', { port: 0, log_level: 'debug', ...own });
  await sample.build();
  await sample.build('plain.json');
  return sample;
}

class KillCampaign {
  #sample;
  #seed;
  #stepper;
  #say;
  #reader;
  /** Answers after the present scenario, if it changes records. */
  #after;
  #printed = '';

  constructor(sample, path, { seed, say }) {
    this.#sample = sample;
    this.#seed = seed;
    this.#stepper = path;
    this.#say = say;
  }

  /** Spreads `count` kills over the scenarios' calls; with more kills than there are places, all places again. */
  async run(scenarios, count, until) {
    this.answers = await this.#sample.answers();
    this.#reader = fork(join(import.meta.dirname, 'reader.mjs'), [this.#sample.folder]);
    await message(this.#reader);
    const outcomes = [];
    for (const [n, scenario] of scenarios.entries()) {
      const own = Date.now() + (until - Date.now()) / (scenarios.length - n);
      const outcome = { case: scenario.name, unit: 'kills', tried: 0, reads: 0, problems: [] };
      outcomes.push(outcome);
      const calls = await this.#list(scenario, outcome);
      const share = Math.ceil(count / scenarios.length);
      for (const [place, how] of places(calls, share, this.#seed)) {
        // Listing the calls may take all of the time on a busy machine.
        if (outcome.tried > 0 && Date.now() > own) break;
        // Threads write in another order each time, so the run may make fewer calls. It reaches earlier ones.
        let at = place;
        while (!(await this.#kill(scenario, at, how, outcome)) && at > 1) at = Math.ceil(at / 2);
      }
      outcome.note = `${calls.length} system calls, ${outcome.reads} openings by readers`;
      this.#say(`${scenario.name}: ${outcome.tried} kills at ${calls.length} calls`);
    }
    return outcomes;
  }

  async close() {
    this.#reader?.disconnect();
    await this.#sample.close();
  }

  async #restore() {
    const sample = this.#sample;
    sample.writeJson('records.json', sample.records);
    for (const name of files(sample.folder).filter((name) => name.startsWith('records.json.')))
      rmSync(sample.at(name));
    await sample.build();
    await sample.build('plain.json');
  }

  async #list(scenario, outcome) {
    await this.#restore();
    await scenario.prepare(this.#sample);
    const out = this.#sample.at('trace.txt');
    const code = await this.#trace(scenario, ['list', this.#sample.folder, out]);
    if (code !== 0) outcome.problems.push(`the program ended with ${code}: ${this.#printed}`);
    if (scenario.logs) this.#after = await this.#sample.answers('plain.json');
    const calls = linesOf(out).filter((line) => !line.includes('/trace.txt'));
    if (scenario.logs) outcome.problems.push(...unflushed(calls, this.#sample.folder));
    return calls;
  }

  /** Returns false if the program made fewer calls. */
  async #kill(scenario, place, how, outcome) {
    const sample = this.#sample;
    await this.#restore();
    await scenario.prepare(sample);
    const before = bystanders(sample.folder, scenario);
    const changed = scenario.changed || scenario.logs ? await sample.answers('plain.json') : undefined;
    const allowed = [changed ?? this.answers, ...(scenario.logs ? [this.#after] : [])];
    const refusals = scenario.refusals ?? {};
    // A server is the only writer of its sidecars here: readers would write them first.
    const reading = !scenario.serves;
    if (reading) this.#reader.send({ allowed: { 'kb.json': allowed, 'plain.json': allowed }, refusals });
    const code = await this.#trace(scenario, ['kill', sample.folder, String(place), how]);
    const where = `${scenario.name}, ${how} call ${place}`;
    const problem = (what) => outcome.problems.push(`${where}: ${what}`);
    if (reading) {
      this.#reader.send({ stop: true });
      const { opens, problems } = await message(this.#reader);
      outcome.reads += opens;
      for (const what of problems.slice(0, 3)) problem(what);
    }
    if (code === 3) return false;
    outcome.tried++;
    const acknowledged = scenario.logs && this.#printed.includes('"version"');
    const now = acknowledged ? [this.#after] : allowed;
    for (const config of ['kb.json', 'plain.json'])
      await this.#reopen(config, now, refusals[config], problem);
    for (const what of unexpected(before, bystanders(sample.folder, scenario))) problem(what);
    await this.#runAgain(scenario, now, problem);
    return true;
  }

  async #reopen(config, allowed, refusals, problem) {
    try {
      if (!allowed.includes(await this.#sample.answers(config))) problem(`${config} answers otherwise`);
    } catch (error) {
      if (!(error instanceof LorekeepError)) problem(`${config}: ${error.stack}`);
      else if (!refusals?.includes(error.code)) problem(`${config}: ${error.code}: ${error.message}`);
    }
  }

  /** The work of the killed program is done, and its leftovers are gone. */
  async #runAgain(scenario, allowed, problem) {
    const sample = this.#sample;
    if (scenario.serves) {
      const code = await this.#trace(scenario, ['list', '/nowhere', sample.at('trace.txt')]);
      if (code !== 0) problem(`the next server ended with ${code}`);
      for (const line of logLines(sample.folder).filter(isGlued))
        problem(`the log has ${line.slice(0, 300)}`);
    } else if (scenario.logs) {
      await this.#complete(scenario, problem);
    } else {
      await sample.build();
    }
    const isComplete = scenario.logs && scenario.again === undefined;
    await this.#reopen('kb.json', isComplete ? [this.#after] : allowed, undefined, problem);
    for (const name of files(sample.folder).filter((name) => temporary.test(name))) {
      problem(`${name.replace(/\d+-[0-9a-f-]{36}/, 'ID')} is left for ever`);
      rmSync(sample.at(name));
    }
  }

  async #complete(scenario, problem) {
    const sample = this.#sample;
    const command = scenario.again ?? scenario.command;
    const code = await this.#trace({ command }, ['list', '/nowhere', sample.at('trace.txt')]);
    if (code !== 0) problem(`what completes it ended with ${code}: ${this.#printed}`);
    if (scenario.gone === undefined) return;
    await sample.build(); // removes what the killed program left of the embeddings file
    if ((await sample.answers()) !== this.#after) return;
    const text = scenario.gone(sample);
    // The inverted index has words, and no texts.
    for (const name of files(sample.folder).filter((name) => logProducts.test(name)))
      if (readFileSync(sample.at(name)).includes(text)) problem(`${name} has a forgotten text`);
  }

  /** Runs the scenario's program under the stepper, with its clients when it is a server. @returns the exit status */
  async #trace(scenario, args) {
    const sample = this.#sample;
    const env = { ...process.env, LOREKEEP_CACHE: sample.at('cache'), UV_USE_IO_URING: '0' };
    const traced = trace(this.#stepper, args, scenario.command(sample), env);
    if (!scenario.serves) {
      const code = await traced.ended;
      this.#printed = traced.output();
      return code;
    }
    const port = await portOf(traced);
    if (port !== undefined) await converse(port).catch(() => {});
    if (args[0] !== 'kill') endProgram(traced.child.pid);
    else setTimeout(() => endProgram(traced.child.pid), 2000).unref();
    return traced.ended;
  }
}

/** Each call in each way, or as many of these as `count` says, evenly spread from a beginning that the seed says. */
function places(calls, count, seed) {
  const all = calls.flatMap((_, place) => hows.map((how) => [place + 1, how]));
  if (all.length === 0) return [];
  const step = Math.max(1, all.length / count);
  const begin = Math.floor(new Random(seed).next() * step);
  return Array.from({ length: count }, (_, n) => all[(begin + Math.floor(n * step)) % all.length]);
}

const message = (child) => new Promise((told) => child.once('message', told));

/**
 * What a power loss may spoil, by the system calls of a program: a file that was not flushed before it was renamed, a merged file that
 * was put in place before the mark in the log was flushed, a folder that was not flushed after its last rename.
 */
export function unflushed(calls, folder) {
  const problems = [];
  const dirty = new Set();
  let renamed = '';
  for (const call of calls) {
    const [, name, path] = /^\d+ (\S+) (.*)$/.exec(call);
    const own = path.slice(folder.length + 1);
    if (/^p?write/.test(name)) dirty.add(own);
    else if (/^f(data)?sync$/.test(name)) {
      dirty.delete(own);
      if (own === '') renamed = '';
    } else if (/^(rename|link)/.test(name)) {
      if (dirty.has(own)) problems.push(`${own} is renamed before it is flushed`);
      if (own.endsWith('.merging') && dirty.has('records.json.changes'))
        problems.push(`${own} is put in place before the mark of the merge is flushed`);
      if (!own.startsWith('cache/')) renamed = own;
    }
  }
  if (renamed !== '') problems.push(`the folder is not flushed after ${renamed} was renamed`);
  return problems;
}

/** Resolves with the port that the server says, or undefined when it ends before. */
function portOf({ ended, output, child }) {
  return new Promise((found) => {
    ended.then(() => found(undefined));
    child.stdout.on('data', () => {
      const match = /"port":(\d+)/.exec(output());
      if (match) found(Number(match[1]));
    });
  });
}

/** SIGTERM to what a stepper runs. */
function endProgram(stepperPid) {
  try {
    const children = readFileSync(`/proc/${stepperPid}/task/${stepperPid}/children`, 'utf8').trim();
    if (children) process.kill(Number(children.split(' ')[0]), 'SIGTERM');
  } catch {
    // it has ended
  }
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Name and content of every file that no scenario writes. */
function bystanders(folder, { logs = false, changed = false }) {
  const isProduct = (name) =>
    products.test(name) || (logs && logProducts.test(name)) || (changed && versionLog.test(name));
  const own = files(folder).filter((name) => !isProduct(name));
  return new Map(
    own.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

function unexpected(before, after) {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name} has changed`);
}

function logLines(folder) {
  const log = join(folder, 'logs', 'service.log');
  return existsSync(log) && statSync(log).size > 0 ? linesOf(log) : [];
}

/** Whether a line is more than half a line that the kill left: the next was written behind it. */
function isGlued(line) {
  try {
    JSON.parse(line);
    return false;
  } catch {
    return line.indexOf('{"level"', 1) > 0;
  }
}
