// The steps that a server under LOREKEEP_WATCHDOG found too long (docs/guides/diagnostics.md), as problems: one for each place.
import { existsSync, readFileSync } from 'node:fs';

/** Processor time in ms that a step may take. */
export const longestStep = 50;

/** The short form runs on shared test machines, which take longer for the same step: it fails at this many times the limit, as tests do. */
export const slackOf = (short) => (short ? 2 : 1);

export function longStepsIn(file, short) {
  if (!existsSync(file)) return [];
  const places = new Map();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { thread, where, part = '', ms } = JSON.parse(line);
    if (ms <= slackOf(short) * longestStep) continue;
    const place = [thread, where, part].filter(Boolean).join(', ');
    const { count, most } = places.get(place) ?? { count: 0, most: 0 };
    places.set(place, { count: count + 1, most: Math.max(most, ms) });
  }
  return [...places].map(
    ([place, { count, most }]) => `a step took ${most.toFixed(0)} ms (${count} times): ${place}`,
  );
}
