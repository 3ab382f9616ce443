// Requests mutated by bytes and by fields, pipelined and cut anywhere, against a server in a process of its own. Each is answered once,
// bytes that are no frame end the connection, no answer is an internal error, and a client beside gets its answers.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { startServer } from '../../server/server-process.mjs';
import { Sample, settingsOf } from '../sample.mjs';
import { Victim } from '../victim.mjs';

const connections = 8;

export const frames = {
  name: 'frames',
  what: 'mutated frames, beside a well-behaved client',
  aim: 10_000_000,
  short: { count: 30_000, minutes: 0.25 },
  long: { count: 10_000_000, minutes: 30 },
  async run({ folder, seed, count, until, say }) {
    const sample = await new Sample(join(folder, 'frames'), { seed }).write();
    await sample.build();
    const server = await startServer(sample.folder, settingsOf(sample));
    const victim = await Victim.connect(server.port, sample);
    victim.start();
    const sender = fork(
      join(import.meta.dirname, 'sender.mjs'),
      [server.port, seed, connections].map(String),
    );
    let told = { sent: 0, connections: 0, problems: [] };
    let stopping = false;
    await new Promise((done) => {
      sender.on('message', (message) => {
        told = message;
        if (!stopping && (told.sent >= count || Date.now() > until || !server.running())) {
          stopping = true;
          sender.send('stop');
        }
      });
      sender.once('close', done);
    });
    const seen = await victim.stop();
    const alive = server.running();
    const ended = await server.stop();
    await sample.close();
    say(`${told.sent} frames on ${told.connections} connections; ${seen.requests} requests beside`);
    const problems = [...told.problems, ...seen.problems.map((what) => `a client beside: ${what}`)];
    if (!alive || ended !== 0) problems.push(`the server ended with ${ended}`);
    const outcome = {
      case: 'bytes, fields and framing',
      unit: 'frames',
      tried: told.sent,
      problems,
      starved: seen.starved,
    };
    outcome.crashes = alive ? 0 : 1;
    outcome.counts = {
      connections: told.connections,
      'rounds of requests beside them': seen.requests,
    };
    return [outcome];
  },
};
