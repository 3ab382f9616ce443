import { Table } from '../parts/table.js';
import type { PageState, PageStorage } from './api.js';

const phases: Readonly<Record<string, string>> = {
  files: 'reading files',
  read: 'reading records',
  embed: 'embedding',
  index: 'linking',
  words: 'indexing words',
};

type PlaceState = PageState['places'][number];

/** The folders that are searched, and the models. */
export function Library({
  state,
  storages,
  isOld,
}: {
  state: PageState;
  storages: ReadonlyMap<string, PageStorage>;
  /** Whether the server does not answer any more. */
  isOld: boolean;
}) {
  return (
    <section aria-label="Library">
      {isOld && <p class="dim">As the server said last:</p>}
      <h2>Folders and knowledge bases</h2>
      <ul class="places">
        {state.places.map((place) => (
          <li key={place.name} class="panel">
            <h3>{place.name}</h3>
            <p class="dim path">{place.path}</p>
            {isOld && isIndexed(place) ? <p>It was being indexed.</p> : <Progress place={place} />}
            <Contents place={place} storage={storages.get(place.name)} />
          </li>
        ))}
      </ul>
      <h2>Models</h2>
      <div class="panel">
        <Table
          label="Models"
          head={['Name', 'Kind', 'State']}
          empty="The catalog is empty."
          rows={state.models.map(({ name, kind, present }) => [
            name,
            kinds[kind] ?? kind,
            present ? 'on this machine' : 'not downloaded',
          ])}
        />
        <p class="dim">
          <code>lorekeep models pull NAME</code> downloads a model of the catalog.
        </p>
      </div>
    </section>
  );
}

const kinds: Readonly<Record<string, string>> = {
  embedding: 'finds by meaning',
  llm: 'writes answers',
  reranker: 'sorts hits',
  vad: 'hears who speaks',
  stt: 'writes down speech',
};

const isIndexed = ({ state }: PlaceState) => state === 'indexing' || state === 'waiting';

/** Progress of indexing, or its end. */
export function Progress({ place }: { place: PlaceState }) {
  const { state, progress, reason, name } = place;
  if (state === 'failed') return <p class="bad">{reason}</p>;
  if (state === 'ready') return null;
  if (progress === undefined)
    return <p>{state === 'indexing' ? 'Loading the embedding model.' : 'Waiting to be indexed.'}</p>;
  const { phase, done, total } = progress;
  const label = `${name}: ${phases[phase] ?? phase}`;
  return (
    <p class="progress">
      <span>
        {phases[phase] ?? phase} {total > 0 && `${done.toLocaleString()} of ${total.toLocaleString()}`}
      </span>
      <progress aria-label={label} value={total > 0 ? done : undefined} max={total > 0 ? total : undefined} />
    </p>
  );
}

function Contents({ place, storage }: { place: PlaceState; storage: PageStorage | undefined }) {
  if (storage === undefined) return null;
  const fields = storage.fields.map(({ name }) => name).join(', ');
  return (
    <p>
      {storage.records.toLocaleString()} {storage.records === 1 ? 'passage' : 'passages'}
      {place.leftOut !== undefined &&
        place.leftOut > 0 &&
        `; ${place.leftOut.toLocaleString()} files were left out`}
      {fields !== '' && <span class="dim">. Fields: {fields}</span>}
    </p>
  );
}
