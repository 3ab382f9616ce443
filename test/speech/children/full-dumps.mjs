// argv: a folder on a small file system. Writes segments of a second until none fits, then one after there is room again. Prints the files.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SegmentDumps } from '../../../dist/src/speech/segment-dumps.js';

const [folder] = process.argv.slice(2);
const filler = join(folder, 'filler');
writeFileSync(filler, Buffer.alloc(20_000));
const warned = [];
const log = { info() {}, warn: ({ err }) => err && warned.push(err.code) };
const dumps = new SegmentDumps(folder, log, { files: 3, bytes: 1e6, waiting: 1e6, recountMs: 60_000 });
const write = async (segment) => {
  dumps.write({ session: 's1', stream: 1, segment, samples: new Float32Array(16_000) });
  await dumps.settled();
};
for (let segment = 1; segment <= 8; segment++) await write(segment);
rmSync(filler);
await write(9);
const names = readdirSync(folder);
const sizes = names.map((name) => statSync(join(folder, name)).size);
process.stdout.write(JSON.stringify({ warned: [...new Set(warned)], sizes }));
