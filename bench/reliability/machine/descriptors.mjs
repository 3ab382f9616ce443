// 64 descriptors: the server starts, refuses the clients that are too many, and serves again when some have gone.
import { connect } from 'node:net';
import { wait } from '../../server/server-process.mjs';
import { Peer } from '../attacks/peer.mjs';
import { withServer } from './with-server.mjs';

const limit = 64;
const crowd = 120;
const patienceMs = 10_000;

export const fewDescriptors = {
  name: `${limit} descriptors`,
  run: ({ sample }) =>
    withServer(
      `${limit} descriptors`,
      sample,
      { wrapper: ['prlimit', `--nofile=${limit}`] },
      async ({ server, problem, count }) => {
        const sockets = [];
        for (let n = 0; n < crowd; n++) {
          const socket = connect({ host: '127.0.0.1', port: server.port });
          socket.on('error', () => {});
          socket.resume();
          sockets.push(socket);
          count();
        }
        await wait(500);
        for (const socket of sockets) socket.destroy();
        const late = Date.now() + patienceMs;
        while (Date.now() < late && (await greets(server.port)) === false) await wait(100);
        if (!(await greets(server.port))) problem('a client that comes when others have gone is not served');
      },
    ),
};

async function greets(port) {
  const peer = await Peer.open(port);
  const replied = await Promise.race([peer.request({ type: 'Ping', id: 1 }), wait(2000)]);
  peer.close();
  return replied?.type === 'Pong';
}
