import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ForgottenTexts } from '../../agents/forgotten-texts.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import type { ServerConfig } from '../../config/schema.js';
import type { Pin, SearchableStorage } from '../../knowledge/index.js';
import type { Log } from '../../log/log.js';
import type { Asset } from '../http/assets.js';
import { LocalServer, type Route, sendJson, sendText } from '../http/local-server.js';
import type { OperatorShare } from '../http/operator-share.js';
import { actionRoutes, type MonitorActions } from './actions.js';
import { readMonitorPage } from './assets.js';
import { EventStream, type StreamEvent } from './event-stream.js';
import type { Compute } from './inspected-search.js';
import { inspect, inspectionSchema } from './inspector.js';
import { jsonBody } from './json-body.js';
import { LiveTurns } from './live-turns.js';
import type { LogEvent, LogTail } from './log-tail.js';
import type { MemorySample, MonitorState } from './state.js';
import { TurnPulse } from './turn-pulse.js';
import type { KeptTurn } from './turn-record.js';
import { TurnRing } from './turn-ring.js';

/** Memory samples that a page gets when it opens. */
const keptSamples = 720;
/** Turns that a page gets when it opens; it keeps as many. */
const replayedTurns = 20_000;
/** Turns of one such event. */
const turnsPerEvent = 20;
/** Lines of the log are sent so often, several at a time. */
const linesMs = 100;

export interface MonitorOptions {
  config: ServerConfig['monitor'];
  /** Whether texts of users may be shown. */
  userContent: boolean;
  log: Log;
  logTail: LogTail | undefined;
  /** `/metrics`, `/health` and `/ready`. */
  routes: Readonly<Record<string, Route>>;
  state(): Promise<Omit<MonitorState, 'pulse'>>;
  sample(): MemorySample;
  share: OperatorShare;
  /** Pins a loaded storage by the name that state() gives. */
  pin(storage: string): Promise<Pin<SearchableStorage>>;
  /** Names of the loaded storages with a record of this id. */
  holders(id: string, signal: AbortSignal): Promise<readonly string[]>;
  actions: MonitorActions;
}

/** The monitor: a page, its data, and a stream of events. */
export class Monitor {
  readonly #options: MonitorOptions;
  readonly #ring: TurnRing;
  readonly #stream: EventStream;
  readonly #live: LiveTurns;
  /** Tells a page that reconnects whether it is still the same server. */
  readonly #instance = `${Date.now().toString(36)}${process.pid.toString(36)}`;
  readonly #samples: MemorySample[] = [];
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #pulse = new TurnPulse();
  #server: LocalServer | undefined;
  #ticks: NodeJS.Timeout | undefined;
  #lines: NodeJS.Timeout | undefined;

  private constructor(options: MonitorOptions, assets: ReadonlyMap<string, Asset>) {
    this.#options = options;
    this.#assets = assets;
    this.#ring = new TurnRing(options.config.turn_ring_size, options.userContent);
    this.#live = new LiveTurns((turns) => this.#stream.send(this.#turnsEvent(turns)));
    const { logTail } = options;
    this.#stream = new EventStream({
      get newest() {
        return logTail?.newest ?? 0;
      },
      after: (seq) => this.#logEvent(seq),
    });
  }

  /** @throws StartupError if it cannot listen */
  static async open(options: MonitorOptions): Promise<Monitor> {
    const monitor = new Monitor(options, await readMonitorPage());
    await monitor.#listen();
    return monitor;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  forgotten(texts: ForgottenTexts): Promise<void> {
    return this.#ring.forget(texts);
  }

  turn(facts: TurnFacts): void {
    this.#pulse.add(facts);
    const turn = this.#ring.add(facts);
    if (this.#stream.readers > 0) this.#live.added(turn);
  }

  async close(): Promise<void> {
    clearInterval(this.#ticks);
    clearTimeout(this.#lines);
    this.#stream.close();
    await this.#server?.close();
  }

  async #listen(): Promise<void> {
    const { config, log, logTail, routes, share } = this.#options;
    const { bind, port, allow_remote, memory_tick_interval_ms: tickMs } = config;
    this.#server = await LocalServer.open({
      name: 'monitor',
      bind,
      port,
      allowRemote: allow_remote,
      log,
      share,
      routes: { ...routes, ...this.#routes() },
      otherwise: (_, response, url) => this.#sendAsset(response, url.pathname),
    });
    if (tickMs > 0) this.#ticks = setInterval(() => this.#tick(), tickMs).unref();
    logTail?.follow(() => this.#sendLinesSoon());
    log.info({ url: this.#server.url }, 'monitor');
  }

  #routes(): Record<string, Route> {
    return {
      'GET /api/state': async (_, response) =>
        sendJson(response, { ...(await this.#options.state()), pulse: this.#pulse.pulse }),
      'GET /api/memory': (_, response) => {
        this.#tick();
        sendJson(response, this.#samples);
      },
      'GET /api/stream': (request, response) => this.#openStream(request, response),
      'POST /api/search': (request, response) => this.#search(request, response),
      ...actionRoutes(this.#options.actions),
    };
  }

  #sendLinesSoon(): void {
    if (this.#stream.readers === 0) return;
    this.#lines ??= setTimeout(() => {
      this.#lines = undefined;
      this.#stream.sendJournal();
    }, linesMs).unref();
  }

  #tick(): void {
    const sample = this.#options.sample();
    this.#samples.push(sample);
    if (this.#samples.length > keptSamples) this.#samples.shift();
    this.#stream.send({ name: 'memory', json: JSON.stringify(sample), replaceable: true });
  }

  #openStream(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'HEAD') return void response.end();
    this.#live.flush();
    const [instance, seq] = String(request.headers['last-event-id'] ?? '').split('-');
    const known = instance === this.#instance && /^\d{1,15}$/.test(seq ?? '') ? Number(seq) : undefined;
    if (!this.#stream.open(response, this.#missed(known))) sendText(response, 503, 'too many pages are open');
  }

  /** Yields the turns that a page lacks and that are still kept. */
  *#missed(known: number | undefined): Generator<StreamEvent> {
    let seen = Math.max(known ?? 0, this.#ring.newest - replayedTurns);
    yield { ...this.#turnsEvent([]), id: this.#eventId(seen) };
    for (;;) {
      const turns = this.#ring.after(seen, turnsPerEvent);
      const latest = turns.at(-1);
      if (latest === undefined) return;
      seen = latest.seq;
      yield this.#turnsEvent(turns);
    }
  }

  /** Its data is a TurnsEvent. */
  #turnsEvent(turns: readonly KeptTurn[]): StreamEvent {
    const latest = turns.at(-1);
    const json = `{"instance":"${this.#instance}","turns":[${turns.map(({ json }) => json).join()}]}`;
    return { name: 'turns', json, ...(latest && { id: this.#eventId(latest.seq) }) };
  }

  #logEvent(seq: number): StreamEvent {
    const kept = this.#options.logTail?.after(seq) ?? { seq: 1, lines: [] };
    const data: LogEvent = { instance: this.#instance, ...kept };
    return { name: 'log', json: JSON.stringify(data) };
  }

  #eventId(seq: number): string {
    return `${this.#instance}-${seq}`;
  }

  async #search(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wanted = await jsonBody(request, response, inspectionSchema);
    if (wanted === undefined) return;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      const { pin: pinned, holders, share } = this.#options;
      await using pin = await pinned(wanted.storage);
      const others = (id: string) => holders(id, gone.signal);
      const { signal } = gone;
      const compute: Compute = (work) => share.compute(signal, work);
      sendJson(response, await inspect(pin.value, wanted, { signal, holders: others, compute }));
    } catch (error) {
      if (!gone.signal.aborted) sendJson(response, { error: (error as Error).message }, 400);
    }
  }

  #sendAsset(response: ServerResponse, path: string): void {
    const asset = this.#assets.get(path);
    if (asset === undefined) sendText(response, 404, 'there is no such page');
    else response.writeHead(200, { 'content-type': asset.type }).end(asset.content);
  }
}
