// argv: a folder on a small file system. Fills it by a log and prints what the log holds, and whether it goes on when there is room.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { RotatingFile } from '../../../dist/src/log/rotating-file.js';

const [folder] = process.argv.slice(2);
writeFileSync(`${folder}/other`, 'x'.repeat(8192));
const file = new RotatingFile(folder, 'service');
const line = (n) => `${JSON.stringify({ level: 'info', time: 'now', n, msg: 'x'.repeat(n % 300) })}\n`;
let code;
for (let n = 0; code === undefined; n += 3) {
  try {
    file.append([line(n), line(n + 1), line(n + 2)]);
  } catch (error) {
    code = error.code;
  }
}
const text = readFileSync(file.path, 'utf8');
const half = text.slice(text.lastIndexOf('\n') + 1);
rmSync(`${folder}/other`);
file.append([line(1)]);
const after = readFileSync(file.path, 'utf8') === text + line(1);
file.close();
const lines = text
  .trimEnd()
  .split('\n')
  .map((each) => JSON.parse(each)).length;
process.stdout.write(JSON.stringify({ code, lines, half, after }));
