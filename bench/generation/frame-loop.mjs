// A loop of 60 frames a second with 8 ms of work in each: node frame-loop.mjs FRAMES. Sends the number of frames that ended after their time.
const frameMs = 1000 / 60;
const workMs = 8;

const frames = Number(process.argv[2]);
let missed = 0;
let due = performance.now() + frameMs;
for (let frame = 0; frame < frames; frame++) {
  const end = process.cpuUsage().user + workMs * 1000;
  while (process.cpuUsage().user < end); // its own work, not the time that others take
  const now = performance.now();
  if (now > due) missed++;
  // A late frame does not make the later ones late.
  due = Math.max(due, now) + frameMs;
  const wait = due - frameMs - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
process.send(missed, () => process.exit());
