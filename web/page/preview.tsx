import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type DocumentPart, getDocument, type Passage } from './api.js';
import { nameOf, type Place, placeText, type ShownPassage, shownPassages } from './passages.js';
import { Problem } from './problem.js';
import { type Connection, useRetry } from './server.js';

interface PreviewProps {
  place: Place;
  isShown: boolean;
  /** Whether it covers the page: then it takes the focus. */
  covers: boolean;
  connection: Connection;
  onClose(): void;
  onError(error: Error): void;
}

/** Passages that are read at once. */
const partPassages = 100;

interface Loaded {
  readonly of: Place;
  readonly part: DocumentPart;
}

/** The document of a record, at the record. */
export function Preview({ place, isShown, covers, connection, onClose, onError }: PreviewProps) {
  const [loaded, setLoaded] = useState<Loaded | undefined>();
  const [problem, setProblem] = useState('');
  const [tries, setTries] = useState(0);
  const again = () => setTries((before) => before + 1);
  useRetry(connection, problem, again);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    let isLatest = true;
    setProblem('');
    getDocument(place.storage, place.id).then(
      (part) => isLatest && setLoaded({ of: place, part }),
      (error: Error) => {
        if (!isLatest) return;
        setProblem(error.message);
        onError(error);
      },
    );
    return () => {
      isLatest = false;
    };
  }, [place.storage, place.id, tries]);
  const part = loaded?.of.storage === place.storage && loaded.of.id === place.id ? loaded.part : undefined;
  useEffect(() => {
    scrollTo(box.current);
  }, [part, isShown, place.range?.[0], place.range?.[1]]);
  useLayoutEffect(() => {
    if (covers) box.current?.querySelector('h2')?.focus();
  }, [place, covers]);
  const record = part?.passages.find(({ id }) => id === place.id);
  return (
    <aside class="preview" aria-label="Document" ref={box} hidden={!isShown}>
      <header class="preview-head">
        <h2 tabIndex={-1} id="document-name">
          {record === undefined ? 'Document' : nameOf(record)}
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
        {record !== undefined && <p class="dim path">{placeText(record)}</p>}
      </header>
      {problem !== '' && (
        <Problem text={`The document cannot be read: ${problem}`} action="Try again" act={again} />
      )}
      {part === undefined ? (
        problem === '' && <p class="dim">Loading the document.</p>
      ) : (
        <Parts
          part={part}
          place={place}
          change={(next) => setLoaded({ of: place, part: next })}
          onError={(error) => {
            setProblem(error.message);
            onError(error);
          }}
        />
      )}
    </aside>
  );
}

/** Scrolls the passages alone: the list of hits stays where it is. */
function scrollTo(box: HTMLElement | null): void {
  const passages = box?.querySelector('.passages');
  const wanted = passages?.querySelector('mark') ?? passages?.querySelector('.wanted');
  if (!passages || !wanted) return;
  const above = wanted.getBoundingClientRect().top - passages.getBoundingClientRect().top;
  passages.scrollTop += above - passages.clientHeight / 3;
}

interface PartsProps {
  part: DocumentPart;
  place: Place;
  change(part: DocumentPart): void;
  onError(error: Error): void;
}

function Parts({ part, place, change, onError }: PartsProps) {
  const { offset, total, passages } = part;
  const later = total - offset - passages.length;
  const more = (from: number, merge: (found: readonly Passage[]) => DocumentPart) =>
    void getDocument(place.storage, place.id, from).then((found) => change(merge(found.passages)), onError);
  const addEarlier = () => {
    const from = Math.max(0, offset - partPassages);
    more(from, (found) => ({
      ...part,
      offset: from,
      passages: [...found.slice(0, offset - from), ...passages],
    }));
  };
  const addLater = () =>
    more(offset + passages.length, (found) => ({ ...part, passages: [...passages, ...found] }));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <section class="passages" tabIndex={0} aria-labelledby="document-name">
      {offset > 0 && (
        <button type="button" onClick={addEarlier}>
          Earlier passages ({offset})
        </button>
      )}
      {shownPassages(passages, place).map((shown) => (
        <PassageText key={shown.id} shown={shown} isWanted={shown.id === place.id && total > 1} />
      ))}
      {later > 0 && (
        <button type="button" onClick={addLater}>
          Later passages ({later})
        </button>
      )}
    </section>
  );
}

function PassageText({ shown, isWanted }: { shown: ShownPassage; isWanted: boolean }) {
  return (
    <>
      {shown.headings !== '' && <h3>{shown.headings}</h3>}
      <p class={isWanted ? 'passage wanted' : 'passage'}>
        {shown.pieces.map(({ text, mark }, index) => (mark ? <mark key={`${index}`}>{text}</mark> : text))}
      </p>
    </>
  );
}
