// The clients of a soak: sessions that stay open and take turns, and visitors that vanish, cancel and stall.
import { connect } from '../../lorekeep.mjs';
import { RawVisitor } from './raw-visitor.mjs';

const retrieve = {
  id: 'kb',
  type: 'retrieve',
  params: { embedded_string_storage: 'kb.json', mode: 'hybrid' },
};
const classes = ['interactive_visible', 'interactive_buffered', 'background'];
/** Turns that an agent remembers: histories that grow to their usual 100 turns would look like a leak. */
const history = { turns: 4 };
/** One agent in this many generates. */
const generating = 4;
const replyTokens = 16;

/** The visits of a worker, by frequency: sessions that retrieve, and sessions that generate. */
const actions = {
  retrieval: { ask: 78, search: 10, cancel: 4, vanish: 3, stall: 2, replace: 3 },
  generation: { ask: 85, cancel: 6, vanish: 5, replace: 4 },
};
/** One worker in this many generates, so that slow replies do not keep retrieval from its share. */
const generatingWorkers = 4;

export class Crowd {
  requests = 0;
  visits = Object.fromEntries(Object.keys(actions.retrieval).map((name) => [name, 0]));
  /** Replies that should not have come. */
  wrong = [];
  #options;
  /** Free members, by side: {client, session, agent, kind, name}. */
  #free = { retrieval: [], generation: [] };
  #latencies = {};
  #decks = {};

  constructor(options) {
    this.#options = options;
    for (const [side, weights] of Object.entries(actions))
      this.#decks[side] = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name));
  }

  /** Loads what the first request loads. */
  async visitOnce() {
    for (let kind = 0; kind <= classes.length; kind++) {
      const member = await this.#join(kind);
      await member.agent.turn(this.#question());
      await member.client.close();
    }
  }

  async open() {
    const { sessions } = this.#options;
    for (let made = 0; made < sessions; made += 25) {
      const batch = Array.from({ length: Math.min(25, sessions - made) }, (_, i) =>
        this.#join(this.#kind(made + i)),
      );
      for (const member of await Promise.all(batch)) this.#give(member);
    }
  }

  /** Works with `active` requests at a time until the clock says so. */
  async work(until) {
    const { active } = this.#options;
    const workers = Array.from({ length: active }, async (_, index) => {
      const side = index % generatingWorkers === 0 ? 'generation' : 'retrieval';
      while (performance.now() < until) {
        const action = this.#pick(this.#decks[side]);
        await this[action](side).catch((error) => this.wrong.push(`${action}: ${error.message}`));
        this.visits[action]++;
      }
    });
    await Promise.all(workers);
  }

  async close() {
    const all = Object.values(this.#free).flatMap((members) => members.splice(0));
    await Promise.all(all.map(({ client }) => client.close()));
  }

  /** Latencies in ms by class since the last call. */
  takeLatencies() {
    const taken = this.#latencies;
    this.#latencies = {};
    return taken;
  }

  async ask(side) {
    await this.#with(side, async (member) => {
      const { status } = await this.#timed(member.name, () => member.agent.turn(this.#question()));
      if (status !== 'completed') this.wrong.push(`a turn ended as ${status}`);
    });
  }

  async search(side) {
    await this.#with(side, ({ session }) =>
      this.#timed('search', () =>
        session.search({ name: 'kb.json', text: this.#question(), mode: 'lexical' }),
      ),
    );
  }

  /** Cancels a turn that has just begun. */
  async cancel(side) {
    await this.#with(side, async ({ agent }) => {
      const abort = new AbortController();
      this.requests++;
      const taken = agent.turn(this.#question(), { signal: abort.signal }).catch(() => {});
      setImmediate(() => abort.abort());
      await taken;
    });
  }

  /** Takes an agent, asks, and is gone without a word. */
  async vanish(side) {
    const visitor = await RawVisitor.connect(this.#options.port);
    this.requests += 3;
    const kind = side === 'retrieval' ? 0 : 1 + this.#below(classes.length);
    await visitor.takeTurn(this.#graph(kind), this.#question());
    visitor.destroy();
  }

  /** Asks much, reads nothing for a while, and leaves. */
  async stall() {
    const visitor = await RawVisitor.connect(this.#options.port);
    const searches = 20;
    this.requests += searches;
    await visitor.askWithoutReading(searches, () => this.#question());
    visitor.destroy();
  }

  /** A session ends properly, and another takes its place. */
  async replace(side) {
    const member = this.#take(side);
    await member.client.close();
    this.requests += 2;
    this.#give(await this.#join(member.kind));
  }

  async #join(kind) {
    const client = await connect({ port: this.#options.port });
    const session = await client.createSession();
    const agent = await session.createAgent({ graph: this.#graph(kind) });
    return { client, session, agent, kind, name: kind === 0 ? 'retrieval' : classes[kind - 1] };
  }

  /** 0: retrieval alone; above: one class of generation. */
  #kind(index) {
    return index % generating === 0 ? 1 + ((index / generating) % classes.length) : 0;
  }

  #graph(kind) {
    if (kind === 0) return { nodes: [retrieve] };
    const params = { model: 'speaker', class: classes[kind - 1], max_tokens: replyTokens, seed: 1, history };
    return { nodes: [retrieve, { id: 'reply', type: 'generate', params }] };
  }

  /** Lends a free member to `use`; one whose use fails is replaced. */
  async #with(side, use) {
    const member = this.#take(side);
    try {
      await use(member);
      this.#give(member);
    } catch (error) {
      await member.client.close().catch(() => {});
      this.#give(await this.#join(member.kind));
      throw error;
    }
  }

  #take(side) {
    const members = this.#free[side];
    return members.splice(this.#below(members.length), 1)[0];
  }

  #give(member) {
    this.#free[member.kind === 0 ? 'retrieval' : 'generation'].push(member);
  }

  async #timed(name, call) {
    this.requests++;
    const begin = performance.now();
    const result = await call();
    this.#latencies[name] ??= [];
    this.#latencies[name].push(performance.now() - begin);
    return result;
  }

  #question() {
    return this.#pick(this.#options.questions);
  }

  #pick(list) {
    return list[this.#below(list.length)];
  }

  #below(count) {
    return this.#options.random.integer(count);
  }
}
