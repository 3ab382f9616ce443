import type { Inspection } from '../../src/operations/monitor/inspector.js';
import type { LogEvent } from '../../src/operations/monitor/log-tail.js';
import type { MemorySample, MonitorState } from '../../src/operations/monitor/state.js';
import type { TurnRecord, TurnsEvent } from '../../src/operations/monitor/turn-record.js';

export type { Inspection, MemorySample, MonitorState, TurnRecord };

async function json<T>(response: Response): Promise<T> {
  const value = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(value.error ?? `status ${response.status}`);
  return value;
}

/** A request without an answer for so long has failed: a machine slept, or a proxy forgot the connection. */
const answerMs = 10_000;

export const getState = async () =>
  json<MonitorState>(await fetch('/api/state', { signal: AbortSignal.timeout(answerMs) }));
export const getMemory = async () => json<MemorySample[]>(await fetch('/api/memory'));

export async function search(body: object): Promise<Inspection> {
  const headers = { 'content-type': 'application/json' };
  return json(await fetch('/api/search', { method: 'POST', headers, body: JSON.stringify(body) }));
}

/** An action needs a key: the page asks for one. */
export class NeedsKey extends Error {}

/** The key of the operator, for as long as the page is open. */
let key: string | undefined;

export function useKey(given: string): void {
  key = given;
}

/** Closes an unused storage, or unloads a model. @throws NeedsKey; Error with the reason */
export async function act(path: 'storages/close' | 'models/unload', name: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  const response = await fetch(`/api/${path}`, { method: 'POST', headers, body: JSON.stringify({ name }) });
  if (response.status === 401) {
    key = undefined;
    throw new NeedsKey(((await response.json()) as { error: string }).error);
  }
  await json(response);
}

export interface StreamHandlers {
  onTurns(turns: readonly TurnRecord[]): void;
  /** The server has started anew: its turns count from 1 again. */
  onRestart(): void;
  /** `missed`: lines before them that the server no longer keeps. */
  onLines(lines: readonly string[], missed: number): void;
  onMemory(sample: MemorySample): void;
  onState(connected: boolean): void;
}

/** Follows the server. Events are handed over several at a time, so that a busy server does not freeze the page. */
export function follow(handlers: StreamHandlers): void {
  const source = new EventSource('/api/stream');
  let known: string | undefined;
  let turns: TurnRecord[] = [];
  const lines = new Lines();
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    // A hidden page has no frames.
    setTimeout(() => {
      waiting = false;
      if (turns.length > 0) handlers.onTurns(turns);
      turns = [];
      lines.take(handlers.onLines);
    }, 50);
  };
  const comesFrom = (instance: string) => {
    if (known !== undefined && known !== instance) {
      turns = [];
      lines.restart();
      handlers.onRestart();
    }
    known = instance;
  };
  source.addEventListener('turns', ({ data }) => {
    const event: TurnsEvent = JSON.parse(data);
    comesFrom(event.instance);
    turns.push(...event.turns);
    later();
  });
  source.addEventListener('log', ({ data }) => {
    const event: LogEvent = JSON.parse(data);
    comesFrom(event.instance);
    lines.add(event);
    later();
  });
  source.addEventListener('memory', ({ data }) => handlers.onMemory(JSON.parse(data)));
  source.addEventListener('open', () => handlers.onState(true));
  source.addEventListener('error', () => handlers.onState(false));
}

/** Lines that have come. A stream that reconnects repeats lines. */
class Lines {
  #newest = 0;
  #missed = 0;
  #lines: string[] = [];

  add({ seq, lines, earlier = [] }: LogEvent): void {
    const fresh = lines.slice(Math.max(0, this.#newest + 1 - seq));
    if (fresh.length === 0) return;
    const severe = earlier.filter((line) => line.seq > this.#newest).map(({ line }) => line);
    if (this.#newest > 0) this.#missed += Math.max(0, seq - 1 - this.#newest - severe.length);
    this.#newest = seq + lines.length - 1;
    this.#lines.push(...severe, ...fresh);
  }

  restart(): void {
    this.#newest = 0;
  }

  take(show: StreamHandlers['onLines']): void {
    if (this.#lines.length > 0) show(this.#lines, this.#missed);
    this.#lines = [];
    this.#missed = 0;
  }
}
