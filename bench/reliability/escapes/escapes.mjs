// Ways out of the storage root: spellings and links for every field that names a file, links that change during requests, and files that are
// nobody's business whatever the root is. Files outside hold a secret: no reply has it, none of them is opened, a way that leaves is
// refused in the same way whether its target exists or not, and no message shows a path of the server.
import { fork } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sample } from '../sample.mjs';
import { fields } from './fields.mjs';
import { Session } from './session.mjs';
import { sessionFolders } from './session-folders.mjs';
import { links, spellings } from './ways.mjs';

const secret = 'the-secret-outside';
const races = { short: 60, long: 600 };

export const escapes = {
  name: 'escapes',
  what: 'ways out of the storage root',
  aim: 500,
  short: { count: 300, minutes: 0.2 },
  long: { count: 100_000, minutes: 5 },
  async run({ folder, seed, count, until, short, say }) {
    const sample = await prepared(join(folder, 'escapes'), seed);
    const outcomes = [];
    // On a busy machine no part takes the time of the others.
    const next = () => Date.now() + (until - Date.now()) / 2;
    try {
      outcomes.push(...(await underRoot(sample, { count, until: next(), short })));
      outcomes.push(await sessionFolders(sample, { begin: Session.begin, secret, short, until: next() }));
      outcomes.push(await protectedFiles(sample));
    } finally {
      await sample.close();
    }
    for (const { case: name, tried, problems } of outcomes)
      say(`${name}: ${tried} ways, ${problems.length} problems`);
    return outcomes;
  },
};

/** root/kb and outside hold the same knowledge base; the records outside hold the secret. */
async function prepared(folder, seed) {
  const sample = await new Sample(folder, { seed, records: 12 }).write();
  await sample.build();
  for (const name of ['root/kb', 'outside', 'logs', 'models'])
    mkdirSync(sample.at(name), { recursive: true });
  const files = ['kb.json', 'kb.index', 'kb.bm25', 'kb.embeddings', 'records.json'];
  for (const name of files) cpSync(sample.at(name), sample.at('root/kb', name));
  for (const { id, text } of sample.records) if (text.includes(secret)) throw new Error(id);
  sample.writeJson(
    'records.json',
    sample.records.map((record) => ({ ...record, text: `${secret} ${record.text}` })),
  );
  await sample.build();
  for (const name of files) cpSync(sample.at(name), sample.at('outside', name));
  writeFileSync(sample.at('root/kb/secret.txt'), 'inside\n');
  writeFileSync(sample.at('outside/secret.txt'), `${secret}\n`);
  const names = [...files, 'secret.txt', 'absent.json'];
  for (const { link, target } of links(sample.at('outside'))) {
    for (const name of link.includes('%') ? names : [''])
      symlinkSync(target.replace('%', name), sample.at('root', link.replace('%', name)));
  }
  return sample;
}

/** All ways for all fields, then races. */
async function underRoot(sample, { count, until, short }) {
  const session = await Session.begin(sample, sample.at('root'));
  const outcomes = [];
  const all = fields.flatMap((field) => waysFor(field, sample).map((way) => ({ field, ...way })));
  const step = Math.max(1, all.length / count);
  const chosen = Array.from({ length: Math.min(count, all.length) }, (_, n) => all[Math.floor(n * step)]);
  for (const field of fields) {
    const outcome = { case: field.name, unit: 'ways', tried: 0, outside: 0, problems: [] };
    outcomes.push(outcome);
    for (const way of chosen.filter((one) => one.field === field)) {
      if (Date.now() > until) break;
      await tryWay(session, way, outcome);
    }
  }
  outcomes.push(await race(session, sample, { rounds: short ? races.short : races.long, until }));
  const alive = await session.end();
  outcomes[0].crashes = alive ? 0 : 1;
  if (!alive) outcomes[0].problems.push('the server ended');
  if (!session.watched)
    outcomes[0].note = 'what is opened was not watched: system calls cannot be traced here';
  return outcomes;
}

function waysFor({ file, inConfig }, sample) {
  // Paths in a config start at its folder, root/kb.
  const up = inConfig ? '../..' : '..';
  const outside = sample.at('outside');
  const ways = [];
  for (const name of [file, 'absent.json']) {
    ways.push(...spellings(name, outside, up));
    for (const { link, behind = '', leaves } of links(outside)) {
      const path = `${link}${behind}`.replaceAll('%', name);
      ways.push({ path: inConfig ? `../${path}` : path, leaves, link: true });
    }
  }
  return ways;
}

async function tryWay(session, { field, path, leaves, link }, outcome) {
  const { reply } = await session.ask(field, path);
  outcome.tried++;
  const shown = JSON.stringify(path.length > 80 ? `${path.slice(0, 80)}...` : path);
  const problem = (what) => outcome.problems.push(`${shown}: ${what}`);
  if (reply === undefined) {
    problem('the connection ended');
    await session.connect();
    return;
  }
  const text = JSON.stringify(reply);
  const opened = await session.opened();
  if (text.includes(secret) || opened.length > 0) {
    outcome.outside++;
    problem(`${text.includes(secret) ? 'the reply has the secret' : `opened ${opened[0]}`}`);
  }
  const codes = leaves ? field.codes.outside : field.codes.inside;
  // A loop of links leads nowhere, and a config with NUL in a path is no config.
  const others = (link && !leaves) || (field.inConfig && path.includes('\0')) ? [3009, 8003] : [];
  if (codes && ![...codes, ...others].includes(reply.code)) {
    if (reply.type !== 'Error' && leaves) outcome.outside++;
    problem(`answered with ${reply.type === 'Error' ? reply.code : reply.type}, not ${codes.join(' or ')}`);
  }
  const { folder } = session.sample;
  if (text.includes(folder) && !path.includes(folder))
    problem(`the message shows a path of the server: ${reply.message}`);
}

/** Links that point inside and outside in turns, while requests go through them. */
async function race(session, sample, { rounds, until }) {
  const outcome = {
    case: 'links that change during requests',
    unit: 'ways',
    tried: 0,
    outside: 0,
    problems: [],
  };
  const [inside, outside] = [sample.at('root/kb'), sample.at('outside')];
  const swaps = [sample.at('root/race'), inside, outside];
  for (const name of ['kb.json', 'records.json', 'secret.txt', 'kb.index', 'kb.bm25', 'kb.embeddings'])
    swaps.push(sample.at('root', `race-${name}`), join(inside, name), join(outside, name));
  swaps.push(sample.at('root/kb/race-records.json'), 'records.json', '../../outside/records.json');
  const swapper = fork(join(import.meta.dirname, 'swapper.mjs'), swaps);
  await new Promise((ready) => swapper.once('message', ready));
  await session.opened();
  const seen = {};
  for (let round = 0; round < rounds && (round < fields.length || Date.now() < until); round++) {
    const field = fields[round % fields.length];
    const path = round % 2 === 0 ? `race/${field.file}` : `race-${field.file}`;
    const { n, reply } = await session.ask(field, field.inConfig ? `../${path}` : path);
    outcome.tried++;
    const found = reply?.type === 'Error' ? [] : await searched(session, field, n);
    if (JSON.stringify([reply, found]).includes(secret))
      outcome.problems.push(`${field.name}: the secret came out`);
    const what = reply?.code ?? reply?.type;
    seen[what] = (seen[what] ?? 0) + 1;
    if (reply === undefined || reply.code === 1009)
      outcome.problems.push(`${field.name}: ${reply?.message ?? 'the connection ended'}`);
  }
  swapper.kill();
  for (const path of await session.opened()) outcome.problems.push(`opened ${path}`);
  outcome.outside = outcome.problems.filter((what) => /^opened|secret/.test(what)).length;
  outcome.note = Object.entries(seen)
    .map(([what, times]) => `${what} ${times}`)
    .join(', ');
  return outcome;
}

/** The texts of a storage that was made in a race: none may come from outside. */
async function searched(session, field, n) {
  if (field.request('x', n, session.sample).type !== 'CreateEmbeddedStringStorageRequest') return [];
  const search = { type: 'SearchEmbeddedStringStorageRequest', name: `s${n}`, text: secret, mode: 'lexical' };
  return session.peer.request({ ...search, session_id: session.session_id, id: `search${n}` });
}

/** The server's own files and the system's, under a root that holds them. */
async function protectedFiles(sample) {
  const outcome = { case: 'files that no root opens', unit: 'ways', tried: 0, outside: 0, problems: [] };
  writeFileSync(sample.at('models/downloads.json'), '{"downloads":[]}');
  const settings = { logs_dir: 'logs', models_download_dir: 'models' };
  for (const [root, paths] of [
    [sample.folder, ownFiles(sample)],
    ['/', systemFiles(sample)],
  ]) {
    const session = await Session.begin(sample, root, settings);
    for (const path of paths) {
      for (const field of fields.filter(({ inConfig }) => !inConfig)) {
        const { reply } = await session.ask(field, path);
        outcome.tried++;
        if (reply?.type === 'Error' && reply.code !== 1009 && reply.code < 4000) continue;
        // A name that is no path is a name.
        if (reply?.type === 'Error' && field.codes.outside.includes(reply.code)) continue;
        outcome.outside++;
        outcome.problems.push(
          `root ${root}, ${field.name} ${path}: ${reply?.code ?? ''} ${reply?.type ?? 'the connection ended'}`,
        );
        if (reply === undefined) await session.connect();
      }
    }
    await session.end();
  }
  return outcome;
}

function ownFiles(sample) {
  const own = ['server-config.json', 'models.json', 'logs/service.log', 'models/downloads.json'];
  const names = [...own];
  for (const [n, name] of own.entries()) {
    symlinkSync(name, sample.at(`own-link-${n}`));
    names.push(`own-link-${n}`);
    if (existsSync(sample.at(name))) {
      linkSync(sample.at(name), sample.at(`own-hard-link-${n}.json`));
      names.push(`own-hard-link-${n}.json`);
    }
  }
  return names;
}

function systemFiles(sample) {
  const own = join(sample.folder, 'server-config.json').slice(1);
  return [
    ...[
      'proc/self/environ',
      'proc/self/cmdline',
      'proc/self/maps',
      'proc/version',
      'proc/1/environ',
      'proc/self/fd/0',
    ],
    ...[
      'sys/kernel/notes',
      'sys/devices/system/cpu/online',
      'dev/null',
      'dev/zero',
      'dev/urandom',
      'dev/fd/0',
    ],
    ...[own, `proc/self/root/${own}`, `proc/self/cwd/package.json`],
  ];
}
