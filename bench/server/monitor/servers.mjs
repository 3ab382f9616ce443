// Several servers in one process, for bench/server/monitor.mjs: their configs, by name, are the argument.

import { threadMs } from '../../../dist/lib/boundary/thread-time.js';
import { configSchema } from '../../../dist/src/config/schema.js';
import { createLog } from '../../../dist/src/log/log.js';
import { LogTail } from '../../../dist/src/operations/monitor/log-tail.js';
import { LorekeepServer } from '../../../dist/src/server/server.js';

process.on('disconnect', () => process.exit(0));

const ports = {};
for (const [name, settings] of Object.entries(JSON.parse(process.argv[2]))) {
  const config = configSchema.parse(settings);
  const logTail = config.monitor.enabled ? new LogTail(false) : undefined;
  const log = createLog('info', { write: (line, level) => logTail?.write(line, level) });
  const server = await LorekeepServer.start({ config, log, logTail });
  ports[name] = { port: server.port, monitor: server.monitorPort };
}

process.on('message', () => {
  // Young garbage costs the server that made it.
  gc({ type: 'minor' });
  const { user, system } = process.cpuUsage();
  process.send({ processorUs: user + system, loopUs: threadMs() * 1000 });
});
process.send(ports);
