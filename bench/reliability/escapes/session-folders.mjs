// Sessions that name a folder of their own, on servers that allow some: a refused one is refused whatever exists there, also through a link
// that changes meanwhile.
import { fork } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { spellings } from './ways.mjs';

/** 1004: NUL in a path. */
const codes = [1004, 3009, 3011];
/** Spellings of other systems: folders of these very names here, which need not exist. */
const foreign = /[\\%]|^[a-z]:/i;
const rounds = { short: 40, long: 200 };

/** @param begin as Session.begin: a watched server and a session */
export async function sessionFolders(sample, { begin, secret, short, until }) {
  const outcome = { case: 'storage_data_folder', unit: 'ways', tried: 0, outside: 0, problems: [] };
  const [listed, outside] = [sample.at('listed'), sample.at('outside')];
  mkdirSync(listed);
  symlinkSync(outside, join(listed, 'link'));
  for (const allowed of ['storage_root', [listed]]) {
    const session = await begin(sample, sample.at('root'), { session_folders: allowed });
    const inside = allowed === 'storage_root' ? ['kb', './kb', ''] : ['kb', listed, `${listed}/`];
    for (const folder of inside) await tryFolder(session, folder, outcome, true);
    for (const { path, leaves } of ways(outside, listed))
      if (leaves && !foreign.test(path) && Date.now() < until) await tryFolder(session, path, outcome, false);
    await race(session, sample, outcome, { secret, rounds: short ? rounds.short : rounds.long, until });
    await session.end();
  }
  return outcome;
}

/** Of an existing folder outside, and of an absent one. */
const ways = (outside, listed) => [
  ...['.', 'absent'].flatMap((name) => spellings(name, outside, '..')),
  ...[
    `${listed}/link`,
    `${listed}/../outside`,
    `${listed}x`,
    '/proc/self',
    '/etc',
    'folder-link',
    'parent',
    'whole-disk',
  ].map((path) => ({
    path,
    leaves: true,
  })),
];

async function tryFolder(session, storage_data_folder, outcome, welcome) {
  const reply = await session.folder(storage_data_folder);
  outcome.tried++;
  const refused = reply?.type === 'Error' && codes.includes(reply.code);
  const shown = JSON.stringify(storage_data_folder.slice(0, 80));
  for (const path of await session.opened()) outcome.problems.push(`${shown}: opened ${path}`);
  if (welcome && reply?.type !== 'CreateSessionResponse')
    outcome.problems.push(`${shown} is refused: ${reply?.message}`);
  if (!welcome && !refused) {
    if (reply?.type === 'CreateSessionResponse') outcome.outside++;
    outcome.problems.push(`${shown}: answered with ${reply?.code ?? reply?.type}, not 3011`);
  }
}

async function race(session, sample, outcome, { secret, rounds, until }) {
  const swaps = [sample.at('root/race-folder'), sample.at('root/kb'), sample.at('outside')];
  const swapper = fork(join(import.meta.dirname, 'swapper.mjs'), swaps);
  await new Promise((ready) => swapper.once('message', ready));
  await session.opened();
  for (let round = 0; round < rounds && Date.now() < until; round++) {
    const reply = await session.folder('race-folder');
    outcome.tried++;
    if (reply?.session_id === undefined) continue;
    const text = JSON.stringify(await session.load(reply.session_id, `f${round}`));
    if (text.includes(secret)) outcome.problems.push('the secret came out of a folder that changed');
  }
  swapper.kill();
  for (const path of await session.opened()) outcome.problems.push(`opened ${path}`);
  outcome.outside += outcome.problems.filter((what) => /^opened|secret/.test(what)).length;
}
