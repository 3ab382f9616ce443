/** Processes that are killed while they change or merge a knowledge base. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { runChild } from '../../helpers/children.js';
import { random, testSeed } from '../../helpers/random.js';
import { repetitions } from '../../helpers/repetitions.js';
import { file, ids, knowledgeBase, open } from './changed-bases.js';

test('what a killed merge has half-written goes with the next opening for writing', async () => {
  const { config, index, records } = await knowledgeBase();
  const strays = [`${index}.merging.123-1.tmp`, `${records}.merging.123-0.tmp`];
  for (const stray of strays) writeFileSync(stray, 'half');
  await (await open(config, { readOnly: true })).close();
  expect(strays.filter((stray) => existsSync(stray))).toEqual(strays);
  await (await open(config)).close();
  expect(strays.filter((stray) => existsSync(stray))).toEqual([]);
});

const kills = repetitions('CHANGE_KILLS', 6, 120);

test(
  `writers killed ${kills} times: every acknowledged batch is there, none in part`,
  async () => {
    console.log(`seed ${testSeed}`);
    const next = random(testSeed);
    const { config } = await knowledgeBase();
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < kills; round++) {
      const life = next() * 150;
      const { signal, output } = await runChild(
        '../../knowledge/children/change.mjs',
        [config, file('tiny.gguf'), String(round)],
        {
          onMessage: (child, message) => {
            if (message === 'open') setTimeout(() => child.kill('SIGKILL'), life);
            else for (const id of message as string[]) acknowledged.set(id, round);
          },
        },
      );
      expect({ signal, output }).toEqual({ signal: 'SIGKILL', output: '' });
    }
    await using kb = await open(config);
    const present = new Set(await ids(kb));
    const lost = [...acknowledged.keys()].filter((id) => !present.has(id));
    expect(lost).toEqual([]);
    const batches = new Map<string, number>();
    for (const id of present) {
      const batch = id.split('/')[0] as string;
      batches.set(batch, (batches.get(batch) ?? 0) + 1);
    }
    for (const [batch, count] of batches)
      if (batch.startsWith('k')) expect(`${batch}: ${count}`).toBe(`${batch}: 3`);
    expect(acknowledged.size).toBeGreaterThan(kills);
    console.log(
      JSON.stringify({ acknowledged: acknowledged.size, records: present.size, version: kb.version }),
    );
  },
  Math.max(900_000, 5000 * kills),
);

/** A module that kills its process before or after the rename number KILL_AT of a merge. */
const killAtRename = `
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
const { rename } = promises;
let renames = 0;
promises.rename = async (from, to) => {
  const isOurs = String(from).endsWith('.merging') || String(to).endsWith('.changes');
  const isLast = isOurs && ++renames === Number(process.env.KILL_AT.slice(1));
  if (isLast && process.env.KILL_AT[0] === '-') process.kill(process.pid, 'SIGKILL');
  await rename(from, to);
  if (isLast) process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();
`;

test('a process that is killed at any rename of a merge loses nothing, and the next opening embeds nothing', async () => {
  for (const at of ['-1', '+1', '-2', '+2', '-3', '+3', '-4', '+4']) {
    const { config } = await knowledgeBase();
    {
      await using kb = await open(config);
      await kb.update({ add: [{ id: 'sea', text: 'Octopus in the sea' }], remove: ['bees'] });
    }
    const { signal, output } = await runChild(
      '../../knowledge/children/merge.mjs',
      [config, file('tiny.gguf')],
      {
        execArgv: ['--import', `data:text/javascript,${encodeURIComponent(killAtRename)}`],
        env: { KILL_AT: at },
      },
    );
    expect({ at, signal, output }).toEqual({ at, signal: 'SIGKILL', output: '' });
    await using kb = await open(config);
    expect({ at, ids: await ids(kb), version: kb.version }).toEqual({
      at,
      ids: ['ice', 'bread', 'sea'],
      version: 1,
    });
    expect([at, kb.embeddings]).toEqual([at, undefined]);
    // Other knowledge bases of this folder may have some.
    const own = new RegExp(`^${basename(config, '.json')}[-.].*merging$`);
    expect(readdirSync(file()).filter((name) => own.test(name))).toEqual([]);
    await kb.add([{ id: 'next', text: 'More' }]);
  }
}, 300_000);
