// argv: config path. Starts a server, sends its port, pid and token, and then does what it is told: "throw" or "exit".
// The test ends it by signals, too.
import { startServer } from 'lorekeep/client';

const { port, pid, accessToken } = await startServer({ config: process.argv[2], timeoutMs: 150_000 });
process.on('message', (message) => {
  if (message === 'exit') process.exit(0);
  throw new Error('a defect of the product');
});
process.send({ port, pid, accessToken });
