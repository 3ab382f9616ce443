import { render } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMedia } from '../parts/media.js';
import { Tabs, useHashTab } from '../parts/tabs.js';
import type { PageState } from './api.js';
import { Ask } from './ask.js';
import { KeyForm } from './key-form.js';
import { Library, Progress } from './library.js';
import type { Place } from './passages.js';
import { Preview } from './preview.js';
import { useScope } from './scope.js';
import { Search } from './search.js';
import { LostNotice, useServer } from './server.js';

const tabs = ['Search', 'Ask', 'Library'] as const;

function App() {
  const tab = useHashTab(tabs);
  const { state, storages, needsKey, connection, onError } = useServer();
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
  if (needsKey) return <KeyForm />;
  return (
    <>
      <header>
        <h1>lorekeep</h1>
      </header>
      <nav aria-label="Pages" inert={covers}>
        <Tabs tabs={tabs} tab={tab} label="Pages" />
      </nav>
      <main class={isShown ? 'with-preview' : undefined}>
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} inert={covers}>
          <LostNotice connection={connection} />
          {!connection.isLost && <Notices state={state} />}
          <Search
            scope={scope}
            isShown={tab === 'Search'}
            open={openPlace}
            connection={connection}
            onError={onError}
          />
          <Ask
            scope={scope}
            answerers={state?.answerers ?? []}
            isShown={tab === 'Ask'}
            open={openPlace}
            onError={onError}
          />
          {tab === 'Library' && state !== undefined && (
            <Library state={state} storages={storages} isOld={connection.isLost} />
          )}
        </div>
        {place !== undefined && (
          <Preview {...{ place, isShown, covers, connection, onError }} onClose={close} />
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

render(<App />, document.getElementById('app') as HTMLElement);
