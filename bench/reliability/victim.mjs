// A well-behaved client beside an attack: pings, searches and generates all the time, and compares every answer with the answer without the
// attack.
import { connect } from '../lorekeep.mjs';
import { percentile } from '../server/server-process.mjs';
import { answersOfSession } from './sample.mjs';

/** Longest that a request may take before its client counts as starved. */
export const starvedMs = 10_000;

/** Tokens of each of its replies. */
const replyTokens = 24;

/** Its replies depend on nobody else: the sample's server uses the runtime `decoder`. */
const talking = {
  nodes: [
    {
      id: 'reply',
      type: 'generate',
      params: { max_tokens: replyTokens, temperature: 0, history: { turns: 0 } },
    },
  ],
};

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
  replies = [];
  gaps = [];
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
    victim.agent = await victim.session.createAgent({ graph: talking });
    victim.expectedReply = await victim.generate();
    return victim;
  }

  start() {
    const acts = [() => this.#ping(), () => this.#search(), () => this.#reply()];
    this.done = Promise.all(acts.map((act) => this.#loop(act)));
  }

  /** Problems and times, when what is under way has been answered. */
  async stop() {
    this.#stopped = true;
    await this.done;
    await this.client.close();
    const p = (values, share) => (values.length === 0 ? undefined : percentile(values, share));
    return {
      requests: this.pings.length + this.searches.length + this.replies.length,
      starved: this.starved,
      problems: this.problems,
      pingP50: p(this.pings, 0.5),
      pingP99: p(this.pings, 0.99),
      searchP50: p(this.searches, 0.5),
      searchP99: p(this.searches, 0.99),
      replyP50: p(this.replies, 0.5),
      replyP99: p(this.replies, 0.99),
      gapP50: p(this.gaps, 0.5),
      gapP99: p(this.gaps, 0.99),
      slowest: [...this.pings, ...this.searches, ...this.replies].reduce((most, ms) => Math.max(most, ms), 0),
    };
  }

  /** The text of a reply to the same question. `gaps` takes the times between its pieces in ms. */
  async generate(gaps = []) {
    let last;
    for await (const event of this.agent.stream('ba ko lu')) {
      if (event.type === 'TurnComplete') {
        if (event.status !== 'completed') throw new Error(`a turn ${event.status}`);
        return event.text;
      }
      if (event.type !== 'TurnText') continue;
      const now = performance.now();
      if (last !== undefined) gaps.push(now - last);
      last = now;
    }
    throw new Error('the turn ended without TurnComplete');
  }

  async #reply() {
    const begin = performance.now();
    const reply = await inTime(this.generate(this.gaps));
    this.replies.push(performance.now() - begin);
    if (reply !== this.expectedReply) this.problems.push('wrong reply');
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
