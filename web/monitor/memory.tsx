import { useState } from 'preact/hooks';
import { bytes, time } from '../parts/format.js';
import { useMedia } from '../parts/media.js';
import type { MemorySample } from './api.js';

const series = [
  ['rss', 'process'],
  ['heap', 'V8 heap'],
  ['clients', 'clients'],
  ['storages', 'storages'],
  ['models', 'models'],
] as const;

/** In the units of the chart, which are about pixels: words keep their size on narrow screens. */
const wide = 800;
const narrow = 360;
const height = 240;
/** Room for the words of the axes. */
const left = 80;
const below = 22;
/** Lines of the scale. */
const ticks = 4;

export function Memory({ samples }: { samples: readonly MemorySample[] }) {
  /** The time that was chosen, in ms since 1970; undefined: the latest sample. */
  const [chosen, choose] = useState<number | undefined>();
  const width = useMedia('(max-width: 48rem)') ? narrow : wide;
  const last = samples.at(-1);
  if (last === undefined) return <p class="dim">No sample yet.</p>;
  const most = Math.max(1, ...samples.flatMap((sample) => series.map(([key]) => sample[key])));
  const from = samples[0]?.at ?? last.at;
  const x = (at: number) => left + ((at - from) / Math.max(1, last.at - from)) * (width - left);
  const y = (value: number) => height - below - (value / most) * (height - below - 12);
  const shown = chosen === undefined ? last : nearest(samples, chosen);
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const { left: begin, width: across } = (currentTarget as Element).getBoundingClientRect();
    const share = (((clientX - begin) / across) * width - left) / (width - left);
    choose(from + Math.min(1, Math.max(0, share)) * (last.at - from));
  };
  return (
    <section aria-label="Memory" class="panel">
      <h2>Memory</h2>
      <p role="status">
        <span class="key-time">{time(shown.at)}</span>
        {series.map(([key, name], index) => (
          <span key={key} class="key">
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect width="12" height="12" class={`n${index}`} />
            </svg>
            {name} {bytes(shown[key])}
          </span>
        ))}
      </p>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Memory from ${time(from)} to ${time(last.at)}`}
        onPointerMove={point}
        onPointerLeave={() => choose(undefined)}
      >
        {Array.from({ length: ticks + 1 }, (_, tick) => (most * tick) / ticks).map((value) => (
          <g key={value}>
            <line class="tick-line" x1={left} x2={width} y1={y(value)} y2={y(value)} />
            <text x={left - 6} y={y(value) + 4} text-anchor="end">
              {bytes(value)}
            </text>
          </g>
        ))}
        <text x={left} y={height - 4}>
          {time(from)}
        </text>
        <text x={width} y={height - 4} text-anchor="end">
          {time(last.at)}
        </text>
        {series.map(([key], index) => (
          <path
            key={key}
            class={`s${index}`}
            d={samples.map((sample, n) => `${n === 0 ? 'M' : 'L'}${x(sample.at)} ${y(sample[key])}`).join('')}
          />
        ))}
        {chosen !== undefined && (
          <g class="pointer">
            <line x1={x(shown.at)} x2={x(shown.at)} y1={0} y2={height - below} />
            {series.map(([key], index) => (
              <circle key={key} class={`n${index}`} cx={x(shown.at)} cy={y(shown[key])} r="3" />
            ))}
          </g>
        )}
      </svg>
      <label class="time">
        Time
        <input
          type="range"
          min={0}
          max={samples.length - 1}
          value={samples.indexOf(shown)}
          aria-valuetext={time(shown.at)}
          onInput={({ currentTarget }) => choose(samples[Number(currentTarget.value)]?.at)}
          onBlur={() => choose(undefined)}
        />
      </label>
      <p class="dim">
        The process is what the system counts: it shares files with other programs, and gives memory back
        late. Models, storages and clients are what lorekeep has reserved for them, so that together they may
        be more. monitor.memory_tick_interval_ms sets the interval of samples.
      </p>
    </section>
  );
}

/** The sample nearest to a time. Precondition: there is one. */
function nearest(samples: readonly MemorySample[], at: number): MemorySample {
  const away = (sample: MemorySample) => Math.abs(sample.at - at);
  return samples.reduce((best, sample) => (away(sample) < away(best) ? sample : best));
}
