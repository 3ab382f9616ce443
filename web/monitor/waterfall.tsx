import { ms } from '../parts/format.js';
import type { TurnRecord } from './api.js';
import { barsOf } from './bars.js';

const rowHeight = 22;
const labelWidth = 150;
const width = 500;

/** Bars on a shared time axis. */
export function Waterfall({ turn }: { turn: TurnRecord }) {
  const bars = barsOf(turn);
  const total = Math.max(0.001, ...bars.map(({ start, length }) => start + length));
  const scale = (width - labelWidth - 70) / total;
  const text = bars.map(({ label, length }) => `${label} ${ms(length)}`).join(', ');
  return (
    <svg class="waterfall" viewBox={`0 0 ${width} ${bars.length * rowHeight}`} role="img" aria-label={text}>
      {bars.map(({ label, start, length, kind, inner }, row) => {
        const x = labelWidth + start * scale;
        const w = Math.max(1, length * scale);
        const y = row * rowHeight;
        return (
          <g key={`${row}`}>
            <text x={inner ? 16 : 0} y={y + 15}>
              {label.slice(0, 26)}
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

/** The same in one row of the list, without its parts. */
export function Strip({ turn, longest }: { turn: TurnRecord; longest: number }) {
  // By the logarithm of the whole: a turn of 10 ms can be seen beside one of 10 s. Its parts are in proportion.
  const bars = barsOf(turn).filter(({ inner }) => !inner);
  const total = Math.max(
    0.001,
    turn.queuedMs + turn.durationMs,
    ...bars.map(({ start, length }) => start + length),
  );
  const scale = (100 * Math.log1p(total)) / Math.log1p(Math.max(longest, total)) / total;
  return (
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" height="14" aria-hidden="true">
      {bars.map(({ start, length, kind }, index) => (
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
