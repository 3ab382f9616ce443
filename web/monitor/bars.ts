import type { TurnRecord } from '../../src/operations/monitor/turn-record.js';
import { colourOf } from './node-colours.js';

export interface Bar {
  label: string;
  start: number;
  length: number;
  kind: string;
  /** A part of the bar above it. */
  inner: boolean;
}

/** Parts of a node that it measures, in the order in which they run. */
const parts: [key: string, label: string][] = [
  ['prepare_ms', 'prompt'],
  ['queue_ms', 'queue'],
  ['embed_ms', 'embedding'],
  ['prefill_ms', 'prefill'],
  ['decode_ms', 'decode'],
];
/** Parts of a search, at its end: before, it waits for a thread. The legs may run at the same time. */
const legs: [key: string, label: string][] = [
  ['dense_ms', 'by meaning'],
  ['lexical_ms', 'by words'],
];

/** The time from the end of speech to TurnStarted. */
const speechParts = [
  ['silence_ms', 'silence after speech'],
  ['recognition_ms', 'recognition'],
  ['wait_ms', 'end of the sentence'],
] as const;

/** The bars of a turn: the time after speech, the queue, then each node with its parts. */
export function barsOf(turn: TurnRecord): Bar[] {
  const { queuedMs, durationMs, status, nodes, engine = [], failure, speech } = turn;
  const bars: Bar[] = [];
  let at = 0;
  if (speech !== undefined)
    for (const [key, label] of speechParts) {
      bars.push({ label, start: at, length: speech[key], kind: 'queue', inner: false });
      at += speech[key];
    }
  const started = at;
  bars.push({ label: 'queue', start: at, length: queuedMs, kind: 'queue', inner: false });
  at += queuedMs;
  for (const node of nodes) {
    const kind = colourOf(node.type);
    const facts = { ...node, ...engine.find((one) => one.node === node.node)?.diagnostics.engine };
    const length = (key: string) => (typeof facts[key] === 'number' ? facts[key] : 0);
    bars.push({
      label: `${node.node} (${node.type})`,
      start: at,
      length: node.duration_ms,
      kind,
      inner: false,
    });
    let next = at;
    const add = (label: string, start: number, ms: number) => {
      if (ms > 0) bars.push({ label, start, length: ms, kind, inner: true });
    };
    for (const [key, label] of parts) {
      add(label, next, length(key));
      next += length(key);
    }
    const search = length('search_ms');
    const slower = Math.max(...legs.map(([key]) => length(key)));
    const begin = next + Math.max(0, search - length('filter_ms') - slower - length('fusion_ms'));
    add('search', next, search);
    add('filter', begin, length('filter_ms'));
    for (const [key, label] of legs) add(label, begin + length('filter_ms'), length(key));
    add('fusion', begin + length('filter_ms') + slower, length('fusion_ms'));
    add('pauses, inside the above', at, length('paused_ms'));
    at += node.duration_ms;
  }
  // Nodes that have ended are measured.
  const rest = started + queuedMs + durationMs - at;
  if (status !== 'completed' && rest > 0)
    bars.push({
      label: `${failure?.node ? `${failure.node.id}, ` : ''}until it ${status === 'failed' ? status : 'was cancelled'}`,
      start: at,
      length: rest,
      kind: failure?.node ? colourOf(failure.node.type) : 'queue',
      inner: false,
    });
  return bars;
}
