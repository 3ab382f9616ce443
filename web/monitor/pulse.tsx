import { ms } from '../parts/format.js';
import type { MonitorState } from './api.js';

type Numbers = MonitorState['pulse'];

const width = 300;
const height = 40;

/** The last hour at a glance. */
export function Pulse({ pulse }: { pulse: Numbers }) {
  const { turns, failed, cancelled, p50, p95, tokens, minutes } = pulse;
  const share = turns === 0 ? '' : ` (${Math.round((100 * failed) / turns)} %)`;
  const most = Math.max(1, ...minutes.map((minute) => minute.turns));
  const step = width / minutes.length;
  return (
    <section class="panel pulse" aria-label="The last hour">
      <h2>The last hour</h2>
      <dl>
        <Figure name="turns" value={turns.toLocaleString()} />
        <Figure name="failed" value={`${failed.toLocaleString()}${share}`} isBad={failed > 0} />
        {cancelled > 0 && <Figure name="cancelled" value={cancelled.toLocaleString()} />}
        {turns > 0 && <Figure name="half took at most" value={ms(p50)} />}
        {turns > 0 && <Figure name="19 of 20 took at most" value={ms(p95)} />}
        {tokens > 0 && <Figure name="tokens written" value={tokens.toLocaleString()} />}
      </dl>
      <figure>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Turns by minute, at most ${most}; failed ones at the bottom`}
        >
          {minutes.map((minute, index) => {
            const all = (minute.turns / most) * height;
            const bad = (minute.failed / most) * height;
            return (
              <g key={`${index}`}>
                <rect class="n0" x={index * step} width={step - 1} y={height - all} height={all - bad} />
                <rect class="fill-bad" x={index * step} width={step - 1} y={height - bad} height={bad} />
              </g>
            );
          })}
        </svg>
        <figcaption class="dim">
          <span>an hour ago</span>
          <span>at most {most} in a minute</span>
          <span>now</span>
        </figcaption>
      </figure>
    </section>
  );
}

function Figure({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'bad' : undefined}>{value}</dd>
    </div>
  );
}
