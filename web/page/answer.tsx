import type { ComponentChildren } from 'preact';
import type { PageAnswer } from './api.js';
import { nameOf, type Place, placeText } from './passages.js';

type Citation = PageAnswer['citations'][number];
type Source = PageAnswer['sources'][number];

interface AnswerProps {
  answer: PageAnswer;
  open(place: Place): void;
}

/** Hits that are shown if no sentence answers. */
const nearest = 5;

/** An answer, whose citations lead to their sentences, and the sources below it. */
export function Answer({ answer, open }: AnswerProps) {
  const { text, sources, hits, finish } = answer;
  if (text === '')
    return hits.length === 0 ? (
      <p>Nothing relevant found.</p>
    ) : (
      <>
        <p>No sentence answers this. The nearest passages:</p>
        <ul class="sources">
          {hits.slice(0, nearest).map((hit) => (
            <li key={`${hit.storage} ${hit.id}`}>
              <SourceButton source={hit} open={() => open({ storage: hit.storage, id: hit.id })} />
            </li>
          ))}
        </ul>
      </>
    );
  return (
    <>
      <p class="reply">{replyPieces(answer, open)}</p>
      {finish !== undefined && finish !== 'stop' && <p class="dim">The answer is cut ({finish}).</p>}
      {sources.length > 0 && <Sources sources={sources} open={open} />}
    </>
  );
}

function Sources({ sources, open }: { sources: readonly Source[]; open(place: Place): void }) {
  const some = sources.some(({ cited }) => cited);
  return (
    <>
      <h3>Sources{!some && <span class="dim"> (the answer marks none of them)</span>}</h3>
      <ul class="sources">
        {sources.map((source) => (
          <li key={`${source.storage} ${source.id}`} class={some && !source.cited ? 'uncited' : undefined}>
            <SourceButton source={source} open={() => open(placeOf(source))}>
              {source.number !== undefined && <span class="number-mark">[{source.number}] </span>}
            </SourceButton>
            {source.sentence !== undefined && <span class="sentence">{source.sentence.text}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

interface SourceButtonProps {
  source: Pick<Source, 'id' | 'metadata'>;
  open(): void;
  children?: ComponentChildren;
}

function SourceButton({ source, open, children }: SourceButtonProps) {
  return (
    <button type="button" class="source" onClick={open}>
      {children}
      {nameOf(source)} <span class="dim">{placeText(source)}</span>
    </button>
  );
}

const placeOf = ({ storage, id, sentence }: Source): Place => ({
  ...{ storage, id },
  ...(sentence !== undefined && { range: [sentence.start, sentence.end] }),
});

/** A mark refers to a record: its source knows the sentence. A quotation is the sentence. */
function citedPlace(citation: Citation, sources: readonly Source[]): Place {
  const { kind, storage, id, start, end } = citation;
  const source = sources.find((one) => one.storage === storage && one.id === id);
  if (kind === 'mark' && source?.sentence !== undefined) return placeOf(source);
  return { storage, id, range: [start, end] };
}

function replyPieces(
  { text, citations, sources }: PageAnswer,
  open: AnswerProps['open'],
): ComponentChildren[] {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const citation of [...citations].sort((a, b) => a.reply_start - b.reply_start)) {
    const { reply_start, reply_end, kind } = citation;
    if (reply_start < at) continue;
    pieces.push(text.slice(at, reply_start));
    const where = placeText(citation);
    pieces.push(
      <button
        key={`${reply_start}`}
        type="button"
        class={`cite ${kind}`}
        title={where}
        aria-label={kind === 'mark' ? `Source ${text.slice(reply_start, reply_end)}: ${where}` : undefined}
        onClick={() => open(citedPlace(citation, sources))}
      >
        {text.slice(reply_start, reply_end)}
      </button>,
    );
    at = reply_end;
  }
  pieces.push(text.slice(at));
  return pieces;
}
