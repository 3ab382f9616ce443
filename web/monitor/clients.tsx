import { bytes } from '../parts/format.js';
import { Table } from '../parts/table.js';
import type { MonitorState } from './api.js';
import { inWords } from './words.js';

type Budget = MonitorState['memory'];

const memoryHints = {
  Held: 'Memory of the connection, its sessions, storages, agents and turns, and its limit.',
  Passing: 'Memory of received data, requests, results and unread replies, and its limit.',
};

const share = (used: number, limit: number) => `${bytes(used)} of ${bytes(limit)}`;

export function Clients({ state }: { state: MonitorState }) {
  return (
    <section aria-label="Clients">
      <div class="panel">
        <h2>Clients</h2>
        {state.clientCount > state.clients.length && (
          <p class="dim">
            The {state.clients.length} that hold the most memory, of {state.clientCount}.
          </p>
        )}
        <Table
          label="Clients"
          head={['Address', 'Sessions', 'Held', 'Passing']}
          numbers={[1, 2, 3]}
          hints={memoryHints}
          empty="No client is connected."
          rows={state.clients.map(({ address, sessionCount, memory }) => [
            address,
            sessionCount,
            share(memory.held, memory.held_limit),
            share(memory.passing, memory.passing_limit),
          ])}
        />
      </div>
      <div class="panel">
        <h2>Sessions and agents</h2>
        {state.clients.some(({ sessions, sessionCount }) => sessions.length < sessionCount) && (
          <p class="dim">The first sessions only.</p>
        )}
        <Table
          label="Sessions and agents"
          head={['Session', 'Agent', 'Nodes', 'Turns under way', 'Storages of the session']}
          numbers={[3]}
          empty="No session is open."
          rows={state.clients.flatMap(({ sessions }) =>
            sessions.flatMap(({ id, agents, storages }) =>
              (agents.length > 0 ? agents : [undefined]).map((agent) => [
                id,
                agent?.id ?? '-',
                agent?.nodes.join(', ') ?? '-',
                agent?.turns ?? '-',
                storages.join(', ') || '-',
              ]),
            ),
          )}
        />
      </div>
      <div class="columns">
        <BudgetPanel title="Memory of all clients" budget={state.memory} />
        <div class="panel">
          <h2>Waiting work</h2>
          <Table
            label="Waiting work"
            head={['Queue', 'Length']}
            numbers={[1]}
            empty="No queue."
            rows={Object.entries(state.waiting).map(([queue, length]) => [inWords(queue), length])}
          />
        </div>
      </div>
    </section>
  );
}

function BudgetPanel({ title, budget }: { title: string; budget: Budget }) {
  return (
    <div class="panel">
      <h2>{title}</h2>
      <p class="dim">
        held {share(budget.held, budget.held_limit)}, passing {share(budget.passing, budget.passing_limit)},
        heap {share(budget.heap, budget.heap_limit)}
      </p>
      <Table
        label={title}
        head={['Kind', 'Memory']}
        numbers={[1]}
        empty="Nothing is held."
        rows={Object.entries(budget.by_kind).map(([kind, value]) => [inWords(kind), bytes(value)])}
      />
    </div>
  );
}
