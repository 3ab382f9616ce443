import type { TurnRecord } from './api.js';
import { barsOf } from './bars.js';
import { ms } from './format.js';

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
    <svg class="waterfall" viewBox={`0 0 ${width} ${bars.length * rowHeight}`} role="img" aria-label={text}>
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
