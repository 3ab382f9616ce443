import type { Inspection } from '../../src/monitor/inspector.js';
import type { MemorySample, MonitorState } from '../../src/monitor/state.js';
import type { TurnRecord, TurnsEvent } from '../../src/monitor/turn-ring.js';

export type { Inspection, MemorySample, MonitorState, TurnRecord };

async function json<T>(response: Response): Promise<T> {
  const value = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(value.error ?? `status ${response.status}`);
  return value;
}

export const getState = async () => json<MonitorState>(await fetch('/api/state'));
export const getMemory = async () => json<MemorySample[]>(await fetch('/api/memory'));

export async function search(body: object): Promise<Inspection> {
  const headers = { 'content-type': 'application/json' };
  return json(await fetch('/api/search', { method: 'POST', headers, body: JSON.stringify(body) }));
}

export interface StreamHandlers {
  onTurns(turns: readonly TurnRecord[]): void;
  /** The server has started anew: its turns count from 1 again. */
  onRestart(): void;
  onLines(lines: string[]): void;
  onMemory(sample: MemorySample): void;
  onState(connected: boolean): void;
}

/** Follows the server. Events are handed over several at a time, so that a busy server does not freeze the page. */
export function follow(handlers: StreamHandlers): void {
  const source = new EventSource('/api/stream');
  let known: string | undefined;
  let turns: TurnRecord[] = [];
  let lines: string[] = [];
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    // A hidden page has no frames.
    setTimeout(() => {
      waiting = false;
      if (turns.length > 0) handlers.onTurns(turns);
      if (lines.length > 0) handlers.onLines(lines);
      turns = [];
      lines = [];
    }, 50);
  };
  source.addEventListener('turns', ({ data }) => {
    const event: TurnsEvent = JSON.parse(data);
    if (known !== undefined && known !== event.instance) {
      turns = [];
      handlers.onRestart();
    }
    known = event.instance;
    turns.push(...event.turns);
    later();
  });
  source.addEventListener('log', ({ data }) => {
    lines.push(...JSON.parse(data));
    later();
  });
  source.addEventListener('memory', ({ data }) => handlers.onMemory(JSON.parse(data)));
  source.addEventListener('open', () => handlers.onState(true));
  source.addEventListener('error', () => handlers.onState(false));
}
