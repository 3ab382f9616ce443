// Stands for the command `lorekeep`: starts the real server, and records every frame between it and its clients.
// RECORDING=FILE node recording-server.mjs serve ...   writes a line {"client": true|false, "frame": {...}} for each
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = join(import.meta.dirname, '..', '..', 'dist', 'src', 'cli', 'lorekeep.cjs');
const server = spawn(process.execPath, [program, ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
server.once('close', (code) => process.exit(code ?? 1));

/** Calls `hear` with each frame of a stream: a byte for its kind, 4 for its length, JSON. */
function listen(socket, hear) {
  let kept = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    kept = Buffer.concat([kept, chunk]);
    for (;;) {
      const end = kept.length < 5 ? Infinity : 5 + kept.readUInt32BE(1);
      if (kept.length < end) return;
      hear(JSON.parse(kept.toString('utf8', 5, end)));
      kept = kept.subarray(end);
    }
  });
}

const record = (client) => (frame) =>
  appendFileSync(process.env.RECORDING, `${JSON.stringify({ client, frame })}\n`);

createInterface({ input: server.stdout }).once('line', (line) => {
  const first = JSON.parse(line);
  const between = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: first.port });
    for (const socket of [near, far]) socket.on('error', () => {});
    listen(near, record(true));
    listen(far, record(false));
    near.pipe(far);
    far.pipe(near);
  });
  between.listen(0, '127.0.0.1', () =>
    process.stdout.write(`${JSON.stringify({ ...first, port: between.address().port })}\n`),
  );
});
