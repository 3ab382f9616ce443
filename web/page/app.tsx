import { render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMedia } from '../parts/media.js';
import { Tabs, useHashTab } from '../parts/tabs.js';
import { getState, getStorage, NeedsKey, type PageState, type PageStorage } from './api.js';
import { Ask } from './ask.js';
import { KeyForm } from './key-form.js';
import { Library, Progress } from './library.js';
import type { Place } from './passages.js';
import { Preview } from './preview.js';
import { useScope } from './scope.js';
import { Search } from './search.js';

const tabs = ['Search', 'Ask', 'Library'] as const;

/** Time between two looks at the server, while it indexes and otherwise, in ms. */
const busyMs = 700;
const quietMs = 10_000;

function App() {
  const tab = useHashTab(tabs);
  const { state, storages, needsKey, isLost, onError } = useServer();
  const [place, open] = useState<Place | undefined>();
  const scope = useScope(state, storages);
  const opener = useRef<Element | null>(null);
  const openPlace = (next: Place | undefined) => {
    opener.current = document.activeElement;
    open(next);
  };
  const close = () => open(undefined);
  // A key that is pressed next meets the new focus: effects after painting would leave a moment without one.
  useLayoutEffect(() => {
    // Only now the page below takes the focus again.
    if (place === undefined) giveFocusBack(opener.current, tab);
  }, [place]);
  useLayoutEffect(() => {
    const closeOnEscape = ({ key, isComposing }: KeyboardEvent) =>
      key === 'Escape' && !isComposing && place !== undefined && close();
    addEventListener('keydown', closeOnEscape);
    return () => removeEventListener('keydown', closeOnEscape);
  }, [place]);
  const isNarrow = useMedia('(max-width: 60rem)');
  const isShown = place !== undefined && tab !== 'Library';
  const covers = isShown && isNarrow;
  if (needsKey !== undefined) return <KeyForm reason={needsKey} />;
  return (
    <>
      <header>
        <h1>lorekeep</h1>
        {isLost && (
          <span class="bad" role="status">
            not connected
          </span>
        )}
      </header>
      <nav aria-label="Pages" inert={covers}>
        <Tabs tabs={tabs} tab={tab} label="Pages" />
      </nav>
      <main class={isShown ? 'with-preview' : undefined}>
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} inert={covers}>
          <Notices state={state} />
          <Search scope={scope} isShown={tab === 'Search'} open={openPlace} onError={onError} />
          <Ask
            scope={scope}
            answerers={state?.answerers ?? []}
            isShown={tab === 'Ask'}
            open={openPlace}
            onError={onError}
          />
          {tab === 'Library' && state !== undefined && <Library state={state} storages={storages} />}
        </div>
        {place !== undefined && (
          <Preview place={place} isShown={isShown} covers={covers} onClose={close} onError={onError} />
        )}
      </main>
    </>
  );
}

/** Focuses the element that opened a document; the tab if that element is gone or hidden, or never had the focus. */
function giveFocusBack(opener: Element | null, tab: string): void {
  if (!(opener instanceof HTMLElement)) return;
  opener.focus();
  if (document.activeElement === document.body) document.getElementById(`tab-${tab}`)?.focus();
}

/** Folders that cannot be searched yet, or at all. */
function Notices({ state }: { state: PageState | undefined }) {
  if (state === undefined) return <p class="dim">Loading.</p>;
  const waiting = state.places.filter((place) => place.state !== 'ready');
  return (
    <>
      {state.places.length === 0 && (
        <p>The server shows no folders: its config names none in http.storages.</p>
      )}
      {waiting.map((place) => (
        <div key={place.name} class="notice">
          <strong>{place.name}</strong> <Progress place={place} />
        </div>
      ))}
    </>
  );
}

/** Follows the server: its folders, and their fields once they can be searched. */
function useServer() {
  const [state, setState] = useState<PageState | undefined>();
  const [storages, setStorages] = useState<ReadonlyMap<string, PageStorage>>(new Map());
  const [needsKey, setNeedsKey] = useState<string | undefined>();
  const [isLost, setLost] = useState(false);
  const onError = (error: Error) => {
    if (error instanceof NeedsKey) setNeedsKey(error.message);
  };
  const isIndexing =
    state?.places.some((place) => place.state === 'indexing' || place.state === 'waiting') ?? false;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let ended = false;
    const look = () =>
      getState()
        .then(
          (next) => {
            setLost(false);
            setState((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
          },
          (error) => {
            setLost(!(error instanceof NeedsKey));
            onError(error);
          },
        )
        .finally(() => {
          if (!ended) timer = setTimeout(look, isIndexing ? busyMs : quietMs);
        });
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [isIndexing]);
  const ready = (state?.places ?? []).filter((place) => place.state === 'ready').map(({ name }) => name);
  useEffect(() => {
    for (const name of ready)
      getStorage(name).then((storage) => setStorages((known) => new Map(known).set(name, storage)), onError);
  }, [ready.join('\n')]);
  return { state, storages, needsKey, isLost, onError };
}

render(<App />, document.getElementById('app') as HTMLElement);
