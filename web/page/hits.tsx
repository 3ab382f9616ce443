import type { Hit } from './api.js';
import { nameOf, placeText } from './passages.js';
import { Why } from './why.js';

interface HitsProps {
  hits: readonly Hit[];
  /** Whether several storages were searched. */
  several: boolean;
  mode: string;
  chosen: Hit | undefined;
  choose(hit: Hit): void;
}

/** The hits, best first. Arrow keys move between them. */
export function Hits({ hits, several, mode, chosen, choose }: HitsProps) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...document.querySelectorAll<HTMLElement>('.hit')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    const next = buttons[at + step];
    if (next !== undefined) next.focus();
    else if (step < 0) document.getElementById('query')?.focus();
  };
  return (
    <ol class="hits" aria-label="Hits" onKeyDown={move}>
      {hits.map((hit) => (
        <li key={`${hit.storage ?? ''} ${hit.id}`}>
          <button
            type="button"
            class="hit"
            aria-current={chosen === hit ? 'true' : undefined}
            onClick={() => choose(hit)}
          >
            <span class="hit-name">{nameOf(hit)}</span>
            <span class="hit-place dim">
              {several && hit.storage !== undefined ? `${hit.storage}: ` : ''}
              {placeText(hit)}
            </span>
            <Snippet hit={hit} />
          </button>
          <Why hit={hit} mode={mode} />
        </li>
      ))}
    </ol>
  );
}

/** Characters of a text without a snippet. */
const beginning = 240;

function Snippet({ hit: { snippet, text } }: { hit: Hit }) {
  const parts = snippet ?? [
    { text: text.length > beginning ? `${text.slice(0, beginning)}…` : text, match: false },
  ];
  return (
    <span class="snippet">
      {parts.map((part, index) => (part.match ? <mark key={`${index}`}>{part.text}</mark> : part.text))}
    </span>
  );
}
