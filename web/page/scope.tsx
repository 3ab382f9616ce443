import { useState } from 'preact/hooks';
import type { FieldFacts, PageState, PageStorage } from './api.js';
import { commonFields, type Filters, filterOf } from './filters.js';

/** Most storages of one search. */
const mostStorages = 16;

/** Where is searched, and with which filter. */
export interface Scope {
  /** The names that can be chosen, and the chosen one; empty: all. */
  readonly names: readonly string[];
  readonly chosen: string;
  choose(name: string): void;
  /** The storages that are searched. */
  readonly storages: readonly string[];
  readonly fields: readonly FieldFacts[];
  readonly filters: Filters;
  setFilters(filters: Filters): void;
  readonly filter: object | undefined;
}

export function useScope(state: PageState | undefined, storages: ReadonlyMap<string, PageStorage>): Scope {
  const [chosen, choose] = useState('');
  const [filters, setFilters] = useState<Filters>({});
  const names = (state?.places ?? []).filter((place) => place.state === 'ready').map(({ name }) => name);
  const searched = names.includes(chosen) ? [chosen] : names.slice(0, mostStorages);
  const known = searched.flatMap((name) => storages.get(name) ?? []);
  const fields = known.length < searched.length ? [] : commonFields(known.map((storage) => storage.fields));
  const filter = filterOf(fields, filters);
  return { names, chosen, choose, storages: searched, fields, filters, setFilters, filter };
}

/** Chooses one of several storages. */
export function ScopeChoice({ scope }: { scope: Scope }) {
  if (scope.names.length < 2) return null;
  return (
    <label class="inline">
      <span>In</span>
      <select value={scope.chosen} onChange={({ currentTarget }) => scope.choose(currentTarget.value)}>
        <option value="">all {scope.names.length}</option>
        {scope.names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
