import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ms, time } from '../parts/format.js';
import type { MonitorState, TurnRecord } from './api.js';
import { Legend } from './colours.js';
import { Pulse } from './pulse.js';
import { TurnDetails } from './turn-details.js';
import { TurnFilterFields } from './turn-filter.js';
import { everyTurn, matches } from './turn-matches.js';
import { Strip } from './waterfall.js';

const rowHeight = 28;
/** Rows drawn above and below the visible ones. */
const margin = 10;
/** Turns whose types of nodes the legend names. */
const mostColoured = 200;

interface TurnsProps {
  turns: readonly TurnRecord[];
  pulse: MonitorState['pulse'];
  userContent: boolean;
}

/** The last hour, and the latest turns, newest first. Only visible rows exist, so ten thousand turns scroll like ten. */
export function Turns({ turns: all, pulse, userContent }: TurnsProps) {
  const [selected, select] = useState<number | undefined>();
  const [filter, setFilter] = useState(everyTurn);
  const turns = filter === everyTurn ? all : all.filter((turn) => matches(turn, filter));
  const chosen = turns.find(({ seq }) => seq === selected) ?? turns.at(-1);
  const types = [
    ...new Set(turns.slice(-mostColoured).flatMap(({ nodes }) => nodes.map(({ type }) => type))),
  ];
  return (
    <section aria-label="Turns">
      <Pulse pulse={pulse} />
      <TurnFilterFields turns={all} filter={filter} change={setFilter} />
      <div class="turns">
        <div>
          <Legend types={types} />
          <div class="row head" aria-hidden="true">
            <span>Time</span>
            <span>Turn</span>
            <span>Agent</span>
            <span>Client</span>
            <span>{userContent ? 'Message' : 'Status'}</span>
            <span>Nodes</span>
            <span class="number">Took</span>
          </div>
          {all.length > 0 && turns.length === 0 ? (
            <p class="dim">None of the latest {all.length} turns is like this.</p>
          ) : (
            <TurnList turns={turns} selected={chosen?.seq} select={select} />
          )}
        </div>
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
            <span class="dim">{time(turn.at)}</span>
            <span>{turn.turn}</span>
            <span>{turn.agent}</span>
            <span title={turn.client}>{turn.client ?? '-'}</span>
            <Summary turn={turn} />
            <Strip turn={turn} longest={longest} />
            <span class="number">{ms(turn.durationMs)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** The failure of a turn, else its message if texts may be shown, else its status. */
function Summary({ turn: { failure, code, status, message } }: { turn: TurnRecord }) {
  if (status === 'failed') return <span class="bad">{failure?.name ?? code}</span>;
  return <span class={message === undefined ? 'dim' : undefined}>{message ?? status}</span>;
}
