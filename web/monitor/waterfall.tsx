import type { TurnRecord } from './api.js';
import { ms } from './format.js';

interface Bar {
  label: string;
  start: number;
  length: number;
  kind: string;
  /** A part of the bar above it. */
  inner: boolean;
}

/** Parts of a node that its diagnostics measure, in the order in which they run. */
const parts: [key: string, label: string][] = [
  ['queue_ms', 'queue'],
  ['embed_ms', 'embedding'],
  ['search_ms', 'search'],
  ['prefill_ms', 'prefill'],
  ['decode_ms', 'decode'],
  ['paused_ms', 'pauses'],
];

/** The bars of a turn: the queue, then each node with its parts. */
export function barsOf({ queuedMs, nodes }: TurnRecord): Bar[] {
  const bars: Bar[] = [{ label: 'queue', start: 0, length: queuedMs, kind: 'queue', inner: false }];
  let at = queuedMs;
  for (const [index, node] of nodes.entries()) {
    const kind = `n${index % 4}`;
    bars.push({
      label: `${node.node} (${node.type})`,
      start: at,
      length: node.duration_ms,
      kind,
      inner: false,
    });
    let inner = at;
    for (const [key, label] of parts) {
      const length = node[key];
      if (typeof length !== 'number' || length <= 0) continue;
      bars.push({ label, start: inner, length, kind, inner: true });
      inner += length;
    }
    at += node.duration_ms;
  }
  return bars;
}

const rowHeight = 22;
const labelWidth = 190;
const width = 640;

/** Bars on a shared time axis. */
export function Waterfall({ turn }: { turn: TurnRecord }) {
  const bars = barsOf(turn);
  const total = Math.max(0.001, ...bars.map(({ start, length }) => start + length));
  const scale = (width - labelWidth - 70) / total;
  const text = bars.map(({ label, length }) => `${label} ${ms(length)}`).join(', ');
  return (
    <svg viewBox={`0 0 ${width} ${bars.length * rowHeight}`} role="img" aria-label={text}>
      {bars.map(({ label, start, length, kind, inner }, row) => {
        const x = labelWidth + start * scale;
        const w = Math.max(1, length * scale);
        const y = row * rowHeight;
        return (
          <g key={`${row}`}>
            <text x={inner ? 16 : 0} y={y + 15}>
              {label.slice(0, 30)}
            </text>
            <rect x={x} y={y + (inner ? 8 : 4)} width={w} height={inner ? 6 : 14} class={kind} rx="1" />
            <text x={x + w + 5} y={y + 15}>
              {ms(length)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** The same in one row of the list. */
export function Strip({ turn, longest }: { turn: TurnRecord; longest: number }) {
  const scale = 100 / Math.max(longest, 0.001);
  return (
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" height="14" aria-hidden="true">
      {barsOf(turn)
        .filter(({ inner }) => !inner)
        .map(({ start, length, kind }, index) => (
          <rect
            key={`${index}`}
            x={start * scale}
            y="1"
            width={Math.max(0.3, length * scale)}
            height="8"
            class={kind}
          />
        ))}
    </svg>
  );
}
