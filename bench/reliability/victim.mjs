// A well-behaved client beside an attack: pings and searches all the time, and compares every answer with the answer without the attack.
import { connect } from '../lorekeep.mjs';
import { percentile } from '../server/server-process.mjs';
import { answersOfSession } from './sample.mjs';

/** Longest that a request may take before its client counts as starved. */
export const starvedMs = 10_000;

const starved = new Error(`no answer in ${starvedMs / 1000} s`);

/** Waits for the answer to one request; a round of many may take longer. @throws `starved` */
async function inTime(answer) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(starved), starvedMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

export class Victim {
  pings = [];
  searches = [];
  problems = [];
  starved = 0;
  #stopped = false;

  /** Connects, and loads the knowledge base `config` of the sample that the server serves. */
  static async connect(port, sample, config = 'kb.json') {
    const victim = new Victim();
    victim.client = await connect({ port });
    victim.session = await victim.client.createSession();
    const { recordCount } = await victim.session.createEmbeddedStringStorage({
      name: 'docs',
      configPath: config,
    });
    const searching = { search: (request) => inTime(victim.session.search(request)) };
    victim.ask = (times) => answersOfSession(searching, 'docs', recordCount, sample.questions, times);
    victim.expected = await victim.ask();
    return victim;
  }

  start() {
    this.done = Promise.all([this.#loop(() => this.#ping()), this.#loop(() => this.#search())]);
  }

  /** Problems and times, when what is under way has been answered. */
  async stop() {
    this.#stopped = true;
    await this.done;
    await this.client.close();
    const p = (values, share) => (values.length === 0 ? undefined : percentile(values, share));
    return {
      requests: this.pings.length + this.searches.length,
      starved: this.starved,
      problems: this.problems,
      pingP50: p(this.pings, 0.5),
      pingP99: p(this.pings, 0.99),
      searchP50: p(this.searches, 0.5),
      searchP99: p(this.searches, 0.99),
      slowest: [...this.pings, ...this.searches].reduce((most, ms) => Math.max(most, ms), 0),
    };
  }

  async #loop(act) {
    while (!this.#stopped && this.problems.length < 5) {
      try {
        await act();
      } catch (error) {
        if (error === starved) {
          this.starved++;
          this.problems.push(starved.message);
        } else this.problems.push(`${error.name}: ${error.message}`);
        return;
      }
    }
  }

  async #ping() {
    const begin = performance.now();
    await inTime(this.client.ping());
    this.pings.push(performance.now() - begin);
  }

  async #search() {
    const answers = await this.ask(this.searches);
    if (answers !== this.expected) this.problems.push('wrong answer');
  }
}
