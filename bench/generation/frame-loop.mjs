// A loop of 60 frames a second with some work in each: node frame-loop.mjs FRAMES ROUNDS. Sends the number of frames that ended after their
// time.
import { work } from './frame-work.mjs';

const frameMs = 1000 / 60;

const [frames, rounds] = process.argv.slice(2).map(Number);
work(rounds); // compiled from now on
let missed = 0;
let due = performance.now() + frameMs;
for (let frame = 0; frame < frames; frame++) {
  work(rounds);
  const now = performance.now();
  if (now > due) missed++;
  // A late frame does not make the later ones late.
  due = Math.max(due, now) + frameMs;
  const wait = due - frameMs - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
process.send(missed, () => process.exit());
