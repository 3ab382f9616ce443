import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { follow, getMemory, getState, type MemorySample, type MonitorState, type TurnRecord } from './api.js';
import { Clients, Storages } from './clients.js';
import { Config, Scheduler } from './config.js';
import { Inspector } from './inspector.js';
import { latestLines } from './latest-lines.js';
import { Log } from './log.js';
import { Memory } from './memory.js';
import { Turns } from './turns.js';

/** Maximum number of turns kept by a page. */
const mostTurns = 20_000;
const mostSamples = 720;
const refreshMs = 2000;

const tabs = ['Turns', 'Clients', 'Storages', 'Search', 'Memory', 'Scheduler', 'Log', 'Config'] as const;
type Tab = (typeof tabs)[number];

const tabOf = (hash: string): Tab =>
  tabs.find((tab) => tab.toLowerCase() === hash.slice(1).toLowerCase()) ?? 'Turns';

function App() {
  const [tab, setTab] = useState(tabOf(location.hash));
  const [state, setState] = useState<MonitorState | undefined>();
  const [turns, setTurns] = useState<readonly TurnRecord[]>([]);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [samples, setSamples] = useState<readonly MemorySample[]>([]);
  const [streams, setStreams] = useState(false);
  /** Whether the latest request was answered: a connection that is gone without a trace leaves the stream open. */
  const [answers, setAnswers] = useState(true);
  const connected = streams && answers;

  useEffect(() => {
    const refresh = () =>
      getState().then(
        (now) => {
          setState(now);
          setAnswers(true);
        },
        () => setAnswers(false),
      );
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
    addEventListener('hashchange', () => setTab(tabOf(location.hash)));
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
            version {state.version}, process {state.pid}, Node.js {state.node}, up {state.uptimeSeconds} s
          </span>
        )}
      </header>
      <main>
        <Tabs tab={tab} />
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {state === undefined ? (
            <p class="dim">Loading.</p>
          ) : (
            <Panel tab={tab} state={state} turns={turns} lines={lines} samples={samples} />
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

/** Left and right arrows move between tabs. */
function Tabs({ tab }: { tab: Tab }) {
  const open = (name: Tab) => {
    location.hash = name.toLowerCase();
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] as Tab;
    open(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Panels" tabIndex={-1} onKeyDown={move}>
      {tabs.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === tab}
          aria-controls="panel"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => open(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

interface PanelProps {
  tab: Tab;
  state: MonitorState;
  turns: readonly TurnRecord[];
  lines: readonly string[];
  samples: readonly MemorySample[];
}

function Panel({ tab, state, turns, lines, samples }: PanelProps) {
  switch (tab) {
    case 'Turns':
      return <Turns turns={turns} userContent={state.userContent} />;
    case 'Clients':
      return <Clients state={state} />;
    case 'Storages':
      return <Storages state={state} />;
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
