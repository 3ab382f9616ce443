// argv: folder, model path, number of steps to finish, how to stop: "finish" (let the loop run empty), "pending"
// (leave while the next step runs, by the loop), "exit" (process.exit in the middle of the next step).
import { steps } from './workload.mjs';

const [folder, modelPath, count, how] = process.argv.slice(2);
const state = { folder, modelPath };
const names = Object.keys(steps);
for (const name of names.slice(0, Number(count))) await steps[name](state);
process.disconnect?.();
const next = names[Number(count)];
if (how !== 'finish' && next !== undefined) {
  steps[next](state).catch(() => {});
  if (how === 'exit') setImmediate(() => process.exit(0));
}
