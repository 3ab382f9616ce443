// The steps that a server under LOREKEEP_WATCHDOG found too long (docs/guides/diagnostics.md), as problems: one for each place.
import { existsSync, readFileSync } from 'node:fs';

export function longStepsIn(file) {
  if (!existsSync(file)) return [];
  const places = new Map();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { thread, where, part = '', ms } = JSON.parse(line);
    const place = [thread, where, part].filter(Boolean).join(', ');
    const { count, most } = places.get(place) ?? { count: 0, most: 0 };
    places.set(place, { count: count + 1, most: Math.max(most, ms) });
  }
  return [...places].map(
    ([place, { count, most }]) => `a step took ${most.toFixed(0)} ms (${count} times): ${place}`,
  );
}
