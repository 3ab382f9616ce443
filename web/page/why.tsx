import type { Hit } from './api.js';

const ordinal = (rank: number) => {
  const [tens, ones] = [rank % 100, rank % 10];
  const ending = tens >= 11 && tens <= 13 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[ones] ?? 'th');
  return `${rank}${ending}`;
};

const percent = (share: number) => `${Math.round(share * 100)} %`;

/** Says in words why a record is a hit, and shows its numbers. */
export function Why({ hit, mode }: { hit: Hit; mode: string }) {
  return (
    <details class="why">
      <summary>
        Why this hit
        {hit.relevance !== undefined && <span class="dim"> ({percent(hit.relevance)} relevant)</span>}
      </summary>
      <p>{reason(hit, mode)}</p>
      <dl>
        {facts(hit).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

export function reason(hit: Hit, mode: string): string {
  const { dense_rank, lexical_rank, snippet = [], relevance } = hit;
  const words = [...new Set(snippet.filter(({ match }) => match).map(({ text }) => text))];
  const byMeaning = dense_rank === undefined ? undefined : `the ${ordinal(dense_rank)} nearest by meaning`;
  const byWords = lexical_rank === undefined ? undefined : `the ${ordinal(lexical_rank)} best by words`;
  const places = [byMeaning, byWords].filter((place) => place !== undefined);
  const found =
    places.length === 0 ? `It is hit ${hit.rank} of the search.` : `It is ${places.join(' and ')}.`;
  const only =
    mode !== 'hybrid' || places.length !== 1
      ? ''
      : byWords === undefined
        ? ' The words of the query are not among its best ones.'
        : ' By meaning it is not among the nearest ones.';
  const matched =
    words.length === 0
      ? ''
      : ` It has ${words
          .slice(0, 8)
          .map((word) => `“${word}”`)
          .join(', ')}.`;
  const sure = relevance === undefined ? '' : ` It is estimated to be relevant with ${percent(relevance)}.`;
  return found + only + matched + sure;
}

function facts(hit: Hit): [name: string, value: string][] {
  const rows: [string, number | undefined][] = [
    ['Score', hit.score],
    ['Distance', hit.distance],
    ['Share by meaning', hit.dense_score],
    ['BM25', hit.bm25_score],
    ['Share by words', hit.lexical_score],
    ['Reranker', hit.rerank_score],
  ];
  const numbers = rows.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value.toFixed(3)]],
  );
  return [...numbers, ['Record', hit.id]];
}
