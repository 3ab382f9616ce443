import { useEffect, useRef, useState } from 'preact/hooks';
import { ms } from '../parts/format.js';
import { type Found, type Hit, search } from './api.js';
import { FilterPanel } from './filter-panel.js';
import { Hits } from './hits.js';
import { Latest } from './latest.js';
import type { Place } from './passages.js';
import { Problem } from './problem.js';
import { type Scope, ScopeChoice } from './scope.js';
import { type Connection, useRetry } from './server.js';

interface SearchProps {
  scope: Scope;
  isShown: boolean;
  open(place: Place | undefined): void;
  connection: Connection;
  onError(error: Error): void;
}

/** Time without a key after which a search begins, in ms. */
const restMs = 120;
const mostHits = 20;

interface Shown extends Found {
  readonly ms: number;
}

/** Search as you type. */
export function Search({ scope, isShown, open, connection, onError }: SearchProps) {
  const [query, setQuery] = useState('');
  const [isComposing, setComposing] = useState(false);
  const [shown, setShown] = useState<Shown | undefined>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [chosen, setChosen] = useState<Hit | undefined>();
  const [tries, setTries] = useState(0);
  const again = () => setTries((before) => before + 1);
  useRetry(connection, problem, again);
  const latest = useRef(new Latest()).current;
  const { storages, filter } = scope;
  const wanted = JSON.stringify([query, storages, filter]);
  useEffect(() => {
    if (query.trim() === '' || storages.length === 0) {
      latest.cancel();
      setShown(undefined);
      setProblem('');
      return setBusy(false);
    }
    // Another composition has begun: what the last one left is no query yet.
    if (isComposing) return;
    setBusy(true);
    const timer = setTimeout(() => {
      const started = performance.now();
      latest.ask(
        (signal) => search(bodyOf(query, storages, filter), signal),
        (found) => {
          setShown({ ...found, ms: performance.now() - started });
          setProblem('');
          setBusy(false);
        },
        (error) => {
          // Those of another query.
          setShown(undefined);
          setProblem(error.message);
          setBusy(false);
          onError(error);
        },
      );
    }, restMs);
    return () => clearTimeout(timer);
  }, [wanted, isComposing, tries]);
  const choose = (hit: Hit) => {
    setChosen(hit);
    const words = (hit.snippet ?? []).filter(({ match }) => match).map(({ text }) => text);
    open({ storage: hit.storage ?? (storages[0] as string), id: hit.id, words });
  };
  return (
    <section aria-label="Search" hidden={!isShown}>
      <QueryField setQuery={setQuery} setComposing={setComposing} />
      <div class="tools">
        <ScopeChoice scope={scope} />
        <FilterPanel fields={scope.fields} filters={scope.filters} change={scope.setFilters} />
      </div>
      <p class="dim" role="status">
        {isBusy ? 'Searching.' : summary(shown)}
      </p>
      {problem !== '' && <Problem text={`Not searched: ${problem}`} action="Search again" act={again} />}
      {shown !== undefined && (
        <div class={isBusy ? 'old' : undefined} aria-busy={isBusy}>
          <Hits
            hits={shown.hits}
            several={storages.length > 1}
            mode={shown.plan.mode}
            chosen={chosen}
            choose={choose}
          />
        </div>
      )}
    </section>
  );
}

function bodyOf(text: string, storages: readonly string[], filter: object | undefined): object {
  return {
    ...(storages.length === 1 ? { name: storages[0] } : { names: storages }),
    ...{ text, top_k: mostHits, highlight: true },
    ...(filter !== undefined && { filter }),
  };
}

function summary(shown: Shown | undefined): string {
  if (shown === undefined) return '';
  const { length } = shown.hits;
  if (length === 0) return 'Nothing relevant found.';
  return `${length === mostHits ? `The best ${length} hits` : length === 1 ? '1 hit' : `${length} hits`}, in ${ms(shown.ms)}.`;
}

interface QueryFieldProps {
  setQuery(query: string): void;
  setComposing(isComposing: boolean): void;
}

/** Text that an input method has not finished is no query yet. */
function QueryField({ setQuery, setComposing }: QueryFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Preact has no name for this event: an `onCompositionEnd` would never be called.
    const composed = () => {
      setComposing(false);
      setQuery(field.current?.value ?? '');
    };
    field.current?.addEventListener('compositionend', composed);
    return () => field.current?.removeEventListener('compositionend', composed);
  }, []);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key !== '/' || (target instanceof HTMLElement && target.closest('input, select, textarea')))
        return;
      if (field.current?.offsetParent === null) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    field.current?.focus();
    return () => removeEventListener('keydown', focus);
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing || event.key !== 'ArrowDown') return;
    const first = document.querySelector<HTMLElement>('.hit');
    if (first === null) return;
    event.preventDefault();
    first.focus();
  };
  return (
    <label class="query">
      <span class="hidden">Search your documents</span>
      <input
        id="query"
        ref={field}
        type="search"
        placeholder="Search your documents"
        autocomplete="off"
        spellcheck={false}
        onKeyDown={keys}
        onInput={({ currentTarget, isComposing }) => {
          setComposing(isComposing);
          if (!isComposing) setQuery(currentTarget.value);
        }}
      />
    </label>
  );
}
