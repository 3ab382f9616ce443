// Faults of the machine: little memory, few descriptors, full and read-only disks, time that jumps, signals, files that change in place and
// files that are none.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Sample } from '../sample.mjs';
import { changedFiles } from './changed-files.mjs';
import { fewDescriptors } from './descriptors.mjs';
import { fullDisk, readOnlyDisk } from './disks.mjs';
import { smallMemory } from './memory.mjs';
import { signals } from './signals.mjs';
import { specialFiles } from './special-files.mjs';
import { clockSteps, stopped } from './time.mjs';

const cases = [
  fewDescriptors,
  fullDisk,
  readOnlyDisk,
  stopped,
  clockSteps,
  signals,
  changedFiles,
  specialFiles,
  smallMemory(256),
  smallMemory(512),
  smallMemory(1024),
];

export const machine = {
  name: 'machine',
  what: 'faults of the machine',
  aim: cases.length,
  short: { count: cases.length, minutes: 0.4 },
  long: { count: cases.length, minutes: 25 },
  async run({ folder, seed, count, until, short, say }) {
    const sample = await new Sample(join(folder, 'kb'), { seed, records: 100 }).write();
    await sample.build();
    const outcomes = [];
    for (const [n, one] of cases.slice(0, count).entries()) {
      if (Date.now() > until || (short && one.longOnly)) continue;
      const work = join(folder, `case-${n}`);
      mkdirSync(work);
      const own = Date.now() + (until - Date.now()) / (cases.length - n);
      const outcome = await one.run({ sample, folder: work, seed, short, until: one.longOnly ? own : until });
      outcomes.push(outcome);
      say(
        `${outcome.case}: ${outcome.skipped ?? `${outcome.tried} times, ${outcome.problems.length} problems`}`,
      );
    }
    await sample.close();
    return outcomes;
  },
};
