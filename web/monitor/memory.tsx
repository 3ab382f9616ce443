import type { MemorySample } from './api.js';
import { bytes, time } from './format.js';

const series = [
  ['rss', 'process'],
  ['heap', 'V8 heap'],
  ['clients', 'clients'],
  ['storages', 'storages'],
  ['models', 'models'],
] as const;

const width = 800;
const height = 240;

export function Memory({ samples }: { samples: readonly MemorySample[] }) {
  const last = samples.at(-1);
  if (last === undefined) return <p class="dim">No sample yet.</p>;
  const most = Math.max(...samples.map(({ rss }) => rss));
  const from = samples[0]?.at ?? last.at;
  const x = (at: number) => ((at - from) / Math.max(1, last.at - from)) * width;
  const y = (value: number) => height - (value / most) * (height - 10);
  return (
    <section aria-label="Memory" class="panel">
      <h2>Memory</h2>
      <p>
        {series.map(([key, name], index) => (
          <span key={key} class="key">
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect width="12" height="12" class={`n${index}`} />
            </svg>
            {name} {bytes(last[key])}
          </span>
        ))}
      </p>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Memory from ${time(from)} to ${time(last.at)}`}
      >
        {series.map(([key], index) => (
          <path
            key={key}
            class={`s${index}`}
            d={samples.map((sample, n) => `${n === 0 ? 'M' : 'L'}${x(sample.at)} ${y(sample[key])}`).join('')}
          />
        ))}
      </svg>
      <p class="dim">
        {time(from)} to {time(last.at)}, at most {bytes(most)}. monitor.memory_tick_interval_ms sets the
        interval of samples.
      </p>
    </section>
  );
}
