// argv: pairs of path, one target, another target. Replaces symbolic links at the paths by each other, as fast as it can, until its parent goes.
import { renameSync, symlinkSync } from 'node:fs';

const words = process.argv.slice(2);
const swaps = [];
for (let at = 0; at < words.length; at += 3)
  swaps.push({ path: words[at], targets: [words[at + 1], words[at + 2]] });
process.on('disconnect', () => process.exit());

let round = 0;
function swapMany() {
  for (let times = 0; times < 200; times++, round++) {
    for (const { path, targets } of swaps) {
      const made = `${path}.${process.pid}`;
      symlinkSync(targets[round % 2], made);
      renameSync(made, path);
    }
  }
  setImmediate(swapMany);
}
swapMany();
process.send('swapping');
