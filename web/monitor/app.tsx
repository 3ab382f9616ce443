import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { age } from '../parts/format.js';
import { Tabs, useHashTab } from '../parts/tabs.js';
import { follow, getMemory, getState, type MemorySample, type MonitorState, type TurnRecord } from './api.js';
import { Clients } from './clients.js';
import { Config, Scheduler } from './config.js';
import { Inspector } from './inspector.js';
import { latestLines } from './latest-lines.js';
import { Log } from './log.js';
import { Memory } from './memory.js';
import { Storages } from './storages.js';
import { Turns } from './turns.js';

/** Maximum number of turns kept by a page. */
const mostTurns = 20_000;
const mostSamples = 720;
const refreshMs = 2000;

const tabs = ['Turns', 'Clients', 'Storages', 'Search', 'Memory', 'Scheduler', 'Log', 'Config'] as const;
type Tab = (typeof tabs)[number];

function App() {
  const tab = useHashTab(tabs);
  const [state, setState] = useState<MonitorState | undefined>();
  const [turns, setTurns] = useState<readonly TurnRecord[]>([]);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [samples, setSamples] = useState<readonly MemorySample[]>([]);
  const [streams, setStreams] = useState(false);
  /** Whether the latest request was answered: a connection that is gone without a trace leaves the stream open. */
  const [answers, setAnswers] = useState(true);
  const connected = streams && answers;

  const refresh = () =>
    getState().then(
      (now) => {
        setState(now);
        setAnswers(true);
      },
      () => setAnswers(false),
    );
  useEffect(() => {
    void refresh();
    void getMemory().then(setSamples, () => {});
    const timer = setInterval(() => void refresh(), refreshMs);
    follow({
      onTurns: (added) => setTurns((known) => merged(known, added)),
      onRestart: () => setTurns([]),
      onLines: (added, missed) => setLines((known) => latestLines([...known, ...gap(missed), ...added])),
      onMemory: (sample) => setSamples((known) => [...known, sample].slice(-mostSamples)),
      onState: setStreams,
    });
    return () => clearInterval(timer);
  }, []);

  return (
    <>
      <header>
        <h1>lorekeep monitor</h1>
        <span class={connected ? 'dim' : 'bad'} role="status">
          {connected ? 'live' : 'not connected'}
        </span>
        {state && (
          <span class="dim">
            version {state.version}, process {state.pid}, Node.js {state.node}, up{' '}
            {age(state.uptimeSeconds * 1000)}
          </span>
        )}
      </header>
      <main>
        <Tabs tabs={tabs} tab={tab} label="Panels" />
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {state === undefined ? (
            <p class="dim">Loading.</p>
          ) : (
            <Panel
              tab={tab}
              state={state}
              turns={turns}
              lines={lines}
              samples={samples}
              refresh={() => void refresh()}
            />
          )}
        </div>
      </main>
    </>
  );
}

/** A line for lines that the server dropped before this page read them. */
function gap(missed: number): string[] {
  return missed === 0 ? [] : [JSON.stringify({ level: 'warn', msg: `${missed} lines are missing here` })];
}

/** A reconnected stream may repeat turns. */
function merged(known: readonly TurnRecord[], added: readonly TurnRecord[]): readonly TurnRecord[] {
  const last = known.at(-1)?.seq ?? 0;
  return [...known, ...added.filter(({ seq }) => seq > last)].slice(-mostTurns);
}

interface PanelProps {
  tab: Tab;
  state: MonitorState;
  turns: readonly TurnRecord[];
  lines: readonly string[];
  samples: readonly MemorySample[];
  refresh(): void;
}

function Panel({ tab, state, turns, lines, samples, refresh }: PanelProps) {
  switch (tab) {
    case 'Turns':
      return <Turns turns={turns} pulse={state.pulse} userContent={state.userContent} />;
    case 'Clients':
      return <Clients state={state} />;
    case 'Storages':
      return <Storages state={state} refresh={refresh} />;
    case 'Search':
      return <Inspector state={state} />;
    case 'Memory':
      return <Memory samples={samples} />;
    case 'Scheduler':
      return <Scheduler state={state} />;
    case 'Log':
      return <Log lines={lines} />;
    case 'Config':
      return <Config state={state} />;
  }
}

render(<App />, document.getElementById('app') as HTMLElement);
