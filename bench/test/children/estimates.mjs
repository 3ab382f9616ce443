// argv: folder. Makes an in-process server hold many objects of one kind after the other, for a client in another process, and prints per
// kind how much V8's heap and its buffers grew and how much the server counts, as a line of JSON. Needs --expose-gc.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { configSchema } from '../../../dist/src/config/schema.js';
import { silentLog } from '../../../dist/src/log/log.js';
import { LorekeepServer } from '../../../dist/src/server/server.js';
import { Sample } from '../../reliability/sample.mjs';

const sample = await new Sample(join(process.argv[2], 'kb'), { seed: 1, records: 100 }).write();
await sample.build();
const config = configSchema.parse({
  port: 0,
  models_catalog_path: sample.at('models.json'),
  storage_root: sample.folder,
});
const server = await LorekeepServer.start({ config, log: silentLog() });
const client = fork(join(import.meta.dirname, 'estimates-client.mjs'), [String(server.port)]);
client.once('exit', () => process.exit(1));
const asked = (message) =>
  new Promise((done) => {
    client.once('message', done);
    client.send(message);
  });

// The first objects of each kind load code and fill caches.
const kinds = ['connections', 'sessions', 'agents', 'templates', 'patterns', 'edges'];
for (const kind of kinds) await asked({ kind, few: true });
for (const kind of kinds) {
  const before = await state();
  const count = await asked({ kind, few: false });
  const after = await state();
  const [grew, counted] = [after.memory - before.memory, after.counted - before.counted];
  console.log(JSON.stringify({ kind, count, grew, counted }));
}
client.removeAllListeners('exit');
client.disconnect();
await server.close();
await sample.close();
process.exit();

/** The memory in use once further collections free nothing, and what the server counts. */
async function state() {
  const { server } = await asked({ kind: 'status' });
  let last = Number.POSITIVE_INFINITY;
  for (;;) {
    for (let i = 0; i < 5; i++) await turnOfLoop();
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    const memory = heapUsed + external;
    if (Math.abs(memory - last) < 50_000) return { memory, counted: server.held };
    last = memory;
  }
}
