// Writes lines to a log that flushes as told, says so, and waits to be killed.
// node writer.mjs <folder> <flush on> <lines before> <level of the last line before> <lines after>
import { openLog } from '../../../dist/src/log/open.js';

const [folder, flushOn, before, level, after] = process.argv.slice(2);
const { log } = openLog({
  logs_dir: folder,
  log_mode: 'production',
  log_level: 'trace',
  log_flush_on: flushOn,
  log_flush_every_ms: 0,
});
for (let index = 0; index < Number(before); index++) log.info({ index }, 'before');
log[level]('mark');
for (let index = 0; index < Number(after); index++) log.info({ index }, 'after');
process.stdout.write('written\n');
setInterval(() => {}, 1000);
