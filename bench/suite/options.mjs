// The command line of `npm run bench`.
import { parseArgs } from 'node:util';
import { ordinaryTrials, presets, trialNames, trialsNamed } from './trials.mjs';

export const usage = `npm run bench -- [--quick] [--only NAME,...] [--publish] [--verbose] | --list | --help

  --quick    small sizes: everything in under five minutes
  --only     these trials alone, in the suite's order; "speech" stands for all that begin so. "reliability", "speech" and others that
             take long run only when they are named
  --publish  put the results into docs/measurements/, bench/README.md and README.md, which a full run of all trials does anyway
  --verbose  what each trial says on the way
  --list     the trials, and how long they take
`;

/** A mistake of the caller; the message says what is known. */
export class UsageError extends Error {}

export function readOptions(args) {
  const values = parsed(args);
  const named = values.only?.split(',').map((name) => name.trim());
  const unknown = named?.find((name) => trialsNamed(name).length === 0);
  if (unknown !== undefined) {
    throw new UsageError(
      `--only ${unknown || '""'}: there is no such trial; there are ${trialNames.join(', ')}`,
    );
  }
  const only = named?.flatMap(trialsNamed);
  const preset = values.quick ? presets.quick : presets.full;
  const all = only === undefined || ordinaryTrials.every((name) => only.includes(name));
  return {
    ...values,
    preset,
    names: trialNames.filter((name) => (only ?? ordinaryTrials).includes(name)),
    publish: values.publish || (all && preset === presets.full),
  };
}

function parsed(args) {
  const flag = { type: 'boolean', default: false };
  const options = {
    quick: flag,
    publish: flag,
    verbose: flag,
    list: flag,
    help: flag,
    only: { type: 'string' },
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`${error.message.split('. ')[0]}; the options are ${known.join(', ')}`);
  }
}
