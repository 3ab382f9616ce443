// A bare echo server in a process of its own: what the same machine, under the same load, does at best. Sends its port.
import { createServer } from 'node:net';

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.pipe(socket);
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
