import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TurnRecord } from './api.js';
import { ms, time } from './format.js';
import { Strip, Waterfall } from './waterfall.js';

const rowHeight = 28;
/** Rows drawn above and below the visible ones. */
const margin = 10;

/** The latest turns, newest first. Only visible rows exist, so ten thousand turns scroll like ten. */
export function Turns({ turns, userContent }: { turns: readonly TurnRecord[]; userContent: boolean }) {
  const [selected, select] = useState<number | undefined>();
  const chosen = turns.find(({ seq }) => seq === selected) ?? turns.at(-1);
  return (
    <section aria-label="Turns">
      <div class="turns">
        <TurnList turns={turns} selected={chosen?.seq} select={select} />
        <div class="panel">
          {chosen === undefined ? (
            <p class="dim">No turn yet.</p>
          ) : (
            <TurnDetails turn={chosen} userContent={userContent} />
          )}
        </div>
      </div>
    </section>
  );
}

interface ListProps {
  turns: readonly TurnRecord[];
  selected: number | undefined;
  select(seq: number): void;
}

function TurnList({ turns, selected, select }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const measure = () => setHeight(list.current?.clientHeight ?? 600);
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  const newest = turns.at(-1)?.seq ?? 0;
  const shownNewest = useRef(newest);
  // Rows that someone reads stay where they are while newer ones arrive above them.
  useLayoutEffect(() => {
    const added = turns.length - 1 - turns.findLastIndex(({ seq }) => seq <= shownNewest.current);
    shownNewest.current = newest;
    const { current } = list;
    if (current !== null && current.scrollTop > 0) current.scrollTop += added * rowHeight;
  }, [newest]);
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(turns.length, Math.ceil((top + height) / rowHeight) + margin);
  const rows: [place: number, turn: TurnRecord][] = [];
  for (let place = first; place < last; place++) {
    const turn = turns[turns.length - 1 - place];
    if (turn !== undefined) rows.push([place, turn]);
  }
  const longest = Math.max(...rows.map(([, { queuedMs, durationMs }]) => queuedMs + durationMs));
  const move = (event: KeyboardEvent) => {
    const all = turns.length;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -all,
      End: all,
    };
    const step = steps[event.key];
    if (step === undefined || turns.length === 0) return;
    event.preventDefault();
    const at = turns.findIndex(({ seq }) => seq === selected);
    const next = turns[Math.min(turns.length - 1, Math.max(0, at - step))];
    if (next === undefined) return;
    select(next.seq);
    const place = turns.length - 1 - turns.indexOf(next);
    const box = list.current as HTMLDivElement;
    if (place * rowHeight < box.scrollTop) box.scrollTop = place * rowHeight;
    else if ((place + 1) * rowHeight > box.scrollTop + height)
      box.scrollTop = (place + 1) * rowHeight - height;
  };
  return (
    <div
      class="list"
      ref={list}
      role="listbox"
      aria-label="Turns, newest first; arrow keys select"
      aria-activedescendant={rows.some(([, { seq }]) => seq === selected) ? `turn-${selected}` : undefined}
      tabIndex={0}
      onKeyDown={move}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div style={{ height: `${turns.length * rowHeight}px` }} role="presentation">
        {rows.map(([place, turn]) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
          <div
            key={turn.seq}
            id={`turn-${turn.seq}`}
            role="option"
            tabIndex={-1}
            class="row"
            aria-selected={turn.seq === selected}
            style={{ top: `${place * rowHeight}px` }}
            onClick={() => select(turn.seq)}
          >
            <span>{turn.turn}</span>
            <span class={turn.status === 'failed' ? 'bad' : 'dim'}>{turn.code ?? turn.status}</span>
            <Strip turn={turn} longest={longest} />
            <span class="number">{ms(turn.durationMs)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function TurnDetails({ turn, userContent }: { turn: TurnRecord; userContent: boolean }) {
  const facts: [string, string | number][] = [
    ['Ended', time(turn.at)],
    ['Status', turn.code === undefined ? turn.status : `${turn.status} (${turn.code})`],
    ['Hits', turn.hits],
    ['Citations', turn.citations],
    ['Skipped nodes', turn.skipped],
    ['Message', `${turn.messageLength} characters`],
    ['Reply', `${turn.replyLength} characters`],
  ];
  return (
    <>
      <h2>{turn.turn}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section class="scroll" aria-label="Waterfall" tabIndex={0}>
        <Waterfall turn={turn} />
      </section>
      <table>
        <tbody>
          {facts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {turn.nodes.map(({ node, type, duration_ms, ...rest }) => (
        <div key={node}>
          <h3>
            {node} <span class="dim">{type}</span>
          </h3>
          <pre>{JSON.stringify(rest, null, 2)}</pre>
          {turn.engine
            .filter((one) => one.node === node)
            .map(({ diagnostics }) => (
              <pre key={node}>{JSON.stringify(diagnostics.engine, null, 2)}</pre>
            ))}
        </div>
      ))}
      <h3>Components</h3>
      {turn.components === undefined ? (
        <p class="dim">
          {userContent ? 'None were kept.' : 'Shown only with include_interaction_in_diagnostics.'}
        </p>
      ) : (
        <pre>{JSON.stringify(turn.components, null, 2)}</pre>
      )}
      {turn.shortened && <p class="dim">Long components are cut.</p>}
    </>
  );
}
