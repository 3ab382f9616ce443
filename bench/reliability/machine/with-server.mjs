// A server under some condition of the machine, with a well-behaved client beside whatever is done to it.
import { startServer } from '../../server/server-process.mjs';
import { settingsOf } from '../sample.mjs';
import { Victim } from '../victim.mjs';

export const settingsFor = (sample, settings = {}) => ({
  ...settingsOf(sample),
  ...settings,
});

/**
 * Runs `body({server, victim, problem, count})` and gives an outcome: what the client saw, what `problem(text)` was told, and whether the
 * server lived. `victim` is false for none; `config` is what it loads.
 */
export async function withServer(name, sample, options, body) {
  const {
    settings,
    victim: wanted = true,
    config = 'kb.json',
    flags = [],
    ends = [0],
    ...spawning
  } = options;
  const outcome = { case: name, tried: 0, unit: 'times', problems: [], crashes: 0, starved: 0 };
  const problem = (what) => outcome.problems.push(what);
  let server;
  try {
    server = await startServer(sample.folder, settingsFor(sample, settings), flags, spawning);
  } catch (error) {
    problem(`does not start: ${error.message.slice(0, 200)}`);
    return { ...outcome, tried: 1, crashes: 1 };
  }
  try {
    const victim = wanted ? await Victim.connect(server.port, sample, config) : undefined;
    victim?.start();
    await body({ server, victim, problem, count: (more = 1) => (outcome.tried += more), outcome });
    const seen = await victim?.stop();
    for (const what of seen?.problems ?? []) problem(`beside: ${what}`);
    outcome.starved = seen?.starved ?? 0;
    outcome.note ??= `${seen?.requests ?? 0} requests beside`;
  } catch (error) {
    problem(error.message.slice(0, 300));
  }
  const alive = server.running();
  const ended = await server.stop();
  if (!alive || typeof ended === 'string') {
    outcome.crashes++;
    problem(`the server ended with ${ended}`);
  } else if (!ends.includes(ended)) problem(`the server was stopped and ended with ${ended}`);
  return outcome;
}
