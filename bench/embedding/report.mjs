// The tables of the embedding trial: ours against the best of the peers, and everyone.

const ownName = 'lorekeep';

const common = [
  { key: 'model', label: 'model' },
  { key: 'tokens', label: 'tokens a text', digits: 0 },
];

const bestColumns = [
  ...common,
  { key: 'perSecond', label: 'lorekeep texts/s' },
  { key: 'peerPerSecond', label: 'best peer texts/s' },
  { key: 'ratio', label: 'ours / theirs', digits: 2 },
  { key: 'peer', label: 'which' },
  { key: 'queryMs', label: 'one text, lorekeep ms' },
  { key: 'peerQueryMs', label: 'best peer ms' },
  { key: 'queryRatio', label: 'ours / theirs, time', digits: 2 },
  { key: 'queryPeer', label: 'which' },
];

const columns = [
  ...common,
  { key: 'name', label: '' },
  { key: 'perSecond', label: 'texts/s' },
  { key: 'ratio', label: 'ours / theirs', digits: 2 },
  { key: 'processorMs', label: 'CPU ms/text' },
  { key: 'queryMs', label: 'one text, ms' },
  { key: 'queryRatio', label: 'ours / theirs, time', digits: 2 },
  { key: 'cosine', label: 'cosine to F32', digits: 5 },
];
const besideColumn = { key: 'beside', label: 'beside a busy neighbour', digits: 2 };

/** @param rows one per model, length and contestant: see rowsOf() of the trial */
export function report({ neighbour }, { rows, curves, leftOut, failed }) {
  const failures = failed.map(({ name, reason }) => ({ model: name, failed: reason }));
  const named = rows.map((row) => ({
    ...row,
    name: row.name === ownName && row.runtime ? `${row.name} (${row.runtime})` : row.name,
  }));
  const tables = [
    {
      id: 'embedding',
      title: 'Embedding, many texts and one',
      columns: neighbour ? [...columns, besideColumn] : columns,
      rows: [...named, ...failures],
    },
  ];
  const best = rows.filter(({ name }) => name === ownName).map((own) => besideBest(own, rows));
  if (rows.some(({ name }) => name !== ownName)) {
    const title = 'Embedding, against the best configuration of all peers';
    tables.unshift({ id: 'embedding-best', title, columns: bestColumns, rows: best });
  }
  return {
    data: 'random weights in the shapes of the models, texts of made-up words; each peer in its best configuration of those tried',
    tables,
    curves,
    leftOut,
    failed,
  };
}

function besideBest({ model, tokens, perSecond, queryMs }, rows) {
  const peers = rows.filter((row) => row.model === model && row.tokens === tokens && row.name !== ownName);
  if (peers.length === 0) return { model, tokens, perSecond, queryMs };
  const bulk = peers.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  const query = peers.reduce((a, b) => (b.queryMs < a.queryMs ? b : a));
  return {
    model,
    tokens,
    perSecond,
    peerPerSecond: bulk.perSecond,
    ratio: bulk.ratio,
    peer: `${bulk.name}, ${bulk.many}`,
    queryMs,
    peerQueryMs: query.queryMs,
    queryRatio: query.queryRatio,
    queryPeer: `${query.name}, ${query.one}`,
  };
}
