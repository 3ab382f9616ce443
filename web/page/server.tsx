import { useEffect, useState } from 'preact/hooks';
import { getState, getStorage, LostServer, NeedsKey, type PageState, type PageStorage } from './api.js';

/** Time between two looks at the server, in ms: while it indexes, otherwise, and while it does not answer. */
const busyMs = 700;
const quietMs = 10_000;
const lostMs = 1000;

/** Whether there is a server. */
export interface Connection {
  readonly isLost: boolean;
  /** How often it was found again: what failed for want of a server may be tried then. */
  readonly found: number;
}

/** Follows the server: its folders, and their fields once they can be searched. */
export function useServer() {
  const [state, setState] = useState<PageState | undefined>();
  const [storages, setStorages] = useState<ReadonlyMap<string, PageStorage>>(new Map());
  const [needsKey, setNeedsKey] = useState(false);
  const [connection, setConnection] = useState<Connection>({ isLost: false, found: 0 });
  const setLost = (isLost: boolean) =>
    setConnection((before) =>
      before.isLost === isLost ? before : { isLost, found: before.found + (isLost ? 0 : 1) },
    );
  const onError = (error: Error) => {
    if (error instanceof NeedsKey) setNeedsKey(true);
    if (error instanceof LostServer) setLost(true);
  };
  const { isLost, found } = connection;
  const isIndexing =
    state?.places.some((place) => place.state === 'indexing' || place.state === 'waiting') ?? false;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let ended = false;
    const look = () =>
      getState()
        .then(
          (next) => {
            setState((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
            setLost(false);
          },
          // Another program may listen there now, whose answer is no state.
          (error) => (error instanceof NeedsKey ? onError(error) : setLost(true)),
        )
        .finally(() => {
          if (!ended) timer = setTimeout(look, isLost ? lostMs : isIndexing ? busyMs : quietMs);
        });
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [isIndexing, isLost]);
  const ready = (state?.places ?? []).filter((place) => place.state === 'ready').map(({ name }) => name);
  useEffect(() => {
    for (const name of ready)
      getStorage(name).then((storage) => setStorages((known) => new Map(known).set(name, storage)), onError);
  }, [ready.join('\n'), found]);
  return { state, storages, needsKey, connection, onError };
}

/** Says that the server does not answer. It is there before, so that screen readers say it, too. */
export function LostNotice({ connection: { isLost } }: { connection: Connection }) {
  return (
    <div role="status">
      {isLost && (
        <p class="notice lost">
          <strong>The server does not answer.</strong> This page looks for it and goes on by itself. If it has
          ended, start it again.
        </p>
      )}
    </div>
  );
}

/** Calls `again` when the server is found again after `problem` was there. */
export function useRetry({ found }: Connection, problem: string, again: () => void): void {
  useEffect(() => {
    if (problem !== '') again();
  }, [found]);
}
