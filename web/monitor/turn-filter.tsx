import type { TurnRecord } from './api.js';
import { sessionOf, type TurnFilter } from './turn-matches.js';

/** Sessions and clients of the latest turns that can be chosen. */
const mostChoices = 100;

const durations: [ms: number, name: string][] = [
  [0, 'any'],
  [100, 'at least 100 ms'],
  [1000, 'at least 1 s'],
  [10_000, 'at least 10 s'],
];

interface FilterProps {
  turns: readonly TurnRecord[];
  filter: TurnFilter;
  change(filter: TurnFilter): void;
}

export function TurnFilterFields({ turns, filter, change }: FilterProps) {
  const latest = turns.toReversed();
  return (
    <div class="tools">
      <Choice
        name="Status"
        value={filter.status}
        options={[
          ['', 'any'],
          ['completed', 'completed'],
          ['failed', 'failed'],
          ['cancelled', 'cancelled'],
        ]}
        change={(status) => change({ ...filter, status })}
      />
      <Choice
        name="Session"
        value={filter.session}
        options={choicesOf(latest.map(sessionOf))}
        change={(session) => change({ ...filter, session })}
      />
      <Choice
        name="Client"
        value={filter.client}
        options={choicesOf(latest.flatMap(({ client }) => client ?? []))}
        change={(client) => change({ ...filter, client })}
      />
      <Choice
        name="Duration"
        value={String(filter.least)}
        options={durations.map(([least, name]) => [String(least), name])}
        change={(least) => change({ ...filter, least: Number(least) })}
      />
      <label>
        Contains
        <input
          type="search"
          value={filter.words}
          onInput={({ currentTarget }) => change({ ...filter, words: currentTarget.value })}
        />
      </label>
    </div>
  );
}

/** Any, or one of the names. */
const choicesOf = (names: readonly string[]): [value: string, text: string][] => [
  ['', 'any'],
  ...[...new Set(names)].slice(0, mostChoices).map((name): [string, string] => [name, name]),
];

interface ChoiceProps {
  name: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  change(value: string): void;
}

function Choice({ name, value, options, change }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
