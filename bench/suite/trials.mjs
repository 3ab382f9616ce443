// The trials of `npm run bench`: their programs, and what they are asked at each preset. `minutes` is what one took on two cores,
// for the time left that is printed; `limit` is when it is ended.

const quick = 'quick';
const full = 'full';
export const presets = { quick, full };

/** Rows that the peers' indexes of vectors are built with once, by `dense`; the trials after it open them. */
const sharedRows = '100000';

export const trials = [
  {
    name: 'dense',
    what: 'dense search: recall against queries per second, beside hnswlib-node, usearch and LanceDB',
    program: 'vector/dense.mjs',
    full: { args: ['--rows', sharedRows], minutes: 8, limit: 20 },
    quick: { args: ['--rows', '5000', '--rounds', '2'], minutes: 0.6, limit: 6 },
  },
  {
    name: 'batch',
    what: 'many queries in one call: throughput against batch size',
    program: 'vector/batch.mjs',
    full: { args: ['--rows', sharedRows], minutes: 1.5, limit: 15 },
    quick: { args: ['--rows', '5000', '--rounds', '2', '--seconds', '0.1'], minutes: 0.3, limit: 4 },
  },
  {
    name: 'filtered',
    what: 'filtered search, 50 % to 0.01 %, independent of the vectors, correlated and anti-correlated',
    program: 'vector/filtered.mjs',
    full: { args: ['--rows', sharedRows], minutes: 3.5, limit: 15 },
    quick: {
      args: ['--rows', '10000', '--queries', '50', '--rounds', '1', '--seconds', '0.2'],
      minutes: 0.7,
      limit: 3,
    },
  },
  {
    name: 'memory',
    what: 'resident memory of an open vector index, and its recall',
    program: 'vector/memory.mjs',
    full: { args: ['--rows', sharedRows], minutes: 1, limit: 10 },
    quick: { args: ['--rows', '5000'], minutes: 0.2, limit: 4 },
  },
  {
    name: 'build',
    what: 'time to build a vector index at the same M and ef_construction',
    program: 'vector/build.mjs',
    full: { args: ['--rows', '20000'], minutes: 2, limit: 10 },
    quick: { args: ['--rows', '3000', '--rounds', '2'], minutes: 0.3, limit: 4 },
  },
  {
    name: 'lexical',
    what: 'lexical search, top 10, beside LanceDB, SQLite FTS5 and MiniSearch',
    program: 'text/lexical.mjs',
    full: { args: [], minutes: 3, limit: 12 },
    quick: { args: ['--documents', '5000', '--rounds', '2', '--seconds', '0.5'], minutes: 0.3, limit: 5 },
  },
  {
    name: 'quality',
    what: 'nDCG@10 and recall@100 of lexical, dense and hybrid search with both models, beside LanceDB and MiniSearch',
    program: 'quality/table.mjs',
    full: { args: [], minutes: 5, limit: 40 },
    quick: { args: ['--collections', 'cisi', '--models', 'lorekeep-mini'], minutes: 0.2, limit: 6 },
  },
  {
    name: 'hybrid',
    what: 'hybrid search against its two legs, beside LanceDB',
    program: 'hybrid/hybrid.mjs',
    full: { args: [], minutes: 2, limit: 10 },
    quick: { args: ['--rows', '3000', '--queries', '100'], minutes: 0.2, limit: 4 },
  },
  {
    name: 'embedding',
    what: 'embedding short, medium and long texts, one at a time and many, beside node-llama-cpp and llama-server',
    program: 'embedding/peers.mjs',
    full: { args: ['--texts', '200', '--neighbour'], minutes: 12, limit: 30 },
    quick: {
      args: ['--shapes', 'all-MiniLM-L6', '--types', 'Q8_0', '--texts', '100', '--rounds', '1'],
      minutes: 0.4,
      limit: 8,
    },
  },
  {
    name: 'models',
    what: 'the two models in the package: loading, texts per second and one query, beside node-llama-cpp',
    program: 'embedding/bundled.mjs',
    full: { args: [], minutes: 2, limit: 20 },
    quick: { args: ['--titles', '50', '--passages', '10', '--rounds', '1'], minutes: 0.3, limit: 6 },
  },
  {
    name: 'open',
    what: 'opening a knowledge base of 10,000 to 500,000 records; a vector index alone, beside the peers',
    program: 'storage/open.mjs',
    full: { args: [], minutes: 2.5, limit: 15 },
    quick: {
      args: [
        '--sizes',
        '2000,10000',
        '--index-sizes',
        '1000,5000',
        '--peer-sizes',
        '1000,5000',
        '--rounds',
        '2',
      ],
      minutes: 0.8,
      limit: 6,
    },
  },
  {
    name: 'server',
    what: 'server load: 1,000 sessions over one knowledge base, turns at a steady rate',
    program: 'server/load.mjs',
    full: { args: [], minutes: 3, limit: 12 },
    quick: {
      args: ['--sessions', '50', '--records', '2000', '--rate', '100', '--seconds', '5'],
      minutes: 0.6,
      limit: 3,
    },
  },
  {
    name: 'generation',
    what: 'language models: prefill, decode, four streams, depth, formats, AVX2, a busy neighbour, shared prefixes, beside llama-server and node-llama-cpp',
    program: 'generation/speed.mjs',
    full: { args: ['--minutes', '16'], minutes: 14, limit: 40 },
    quick: {
      args: [
        ...['--parts', 'speed,agents', '--models', 'SmolLM2-135M Q4_1', '--prompt', '128', '--long', '512'],
        ...['--depth', '500', '--reply', '16', '--rounds', '2', '--deep-rounds', '1', '--agents', '20'],
      ],
      minutes: 1,
      limit: 10,
    },
  },
  {
    name: 'fairness',
    what: 'a stream beside a long prompt and background work; cancels; frames beside a throttled generation; retrieval beside generation',
    program: 'generation/fairness.mjs',
    full: { args: ['--minutes', '12'], minutes: 9, limit: 40 },
    quick: {
      args: [
        ...['--prompt', '500', '--rounds', '1', '--targets', 'auto,160', '--batches', '2048,64'],
        ...['--cancels', '20', '--frames', '120', '--queries', '50'],
      ],
      minutes: 1,
      limit: 10,
    },
  },
  {
    name: 'whole',
    what: 'whole engines as a user meets them: first answer, memory, queries per second, nDCG@10: the numbers of README.md',
    program: 'whole/main.mjs',
    onRequest: true,
    full: { args: [], minutes: 2.5, limit: 10 },
    quick: { args: ['--rounds', '1', '--seconds', '0.3'], minutes: 1.5, limit: 6 },
  },
  {
    name: 'install',
    what: 'size of an installation, beside the programs of README.md; needs `npm run prebuild` and the registry',
    program: 'whole/install.mjs',
    onRequest: true,
    full: { args: [], minutes: 2, limit: 10 },
    quick: { args: [], minutes: 2, limit: 10 },
  },
  {
    name: 'soak',
    what: '500 sessions of retrieval and generation for an hour, with clients that vanish, cancel and stall: memory, handles, latencies over time',
    program: 'server/soak.mjs',
    onRequest: true,
    full: { args: [], minutes: 61, limit: 75 },
    quick: { args: ['--minutes', '3'], minutes: 4, limit: 10 },
  },
  ...Object.entries({
    voice: {
      what: 'where speech begins and ends',
      args: ['--parts', 'voice'],
      minutes: 6,
      less: ['--scenes', '1'],
    },
    text: {
      what: 'word errors',
      args: ['--parts', 'text', '--beams', '1'],
      minutes: 12,
      less: ['--words', '60'],
    },
    beams: {
      what: 'word errors with 5 beams',
      args: ['--parts', 'text', '--beams', '5'],
      minutes: 20,
      less: ['--words', '60'],
    },
    short: {
      what: 'single words, ends of streams, sound without speech',
      args: ['--parts', 'short'],
      minutes: 4,
      less: ['--clips', '5'],
    },
    partial: {
      what: 'texts while somebody speaks',
      args: ['--parts', 'partial'],
      minutes: 20,
      less: ['--partials', '4'],
    },
    joined: {
      what: 'pieces of speech one by one and together',
      args: ['--parts', 'joined', '--rounds', '2'],
      minutes: 5,
      less: ['--words', '60'],
    },
    times: { what: 'times of words', args: ['--parts', 'times'], minutes: 4, less: ['--timed', '4'] },
    speed: { what: 'times of recognition', args: ['--parts', 'speed'], minutes: 4, less: ['--rounds', '1'] },
  }).map(([part, { what, args, minutes, less }]) => ({
    name: `speech-${part}`,
    group: 'speech',
    what: `speech: ${what}: docs/measurements/speech.md`,
    program: 'speech/speech.mjs',
    onRequest: true,
    full: { args, minutes, limit: 6 * minutes },
    quick: { args: [...args, ...less], minutes: 1, limit: 10 },
  })),
  {
    name: 'speech-server',
    what: 'speech on a server: end of speech to the turn, speaking during a reply, thinking pauses, replies beside speech: docs/measurements/speech.md',
    program: 'speech/server.mjs',
    onRequest: true,
    full: { args: [], minutes: 9, limit: 40 },
    quick: { args: ['--parts', 'beside', '--seconds', '5'], minutes: 1, limit: 10 },
  },
  {
    name: 'gpu',
    what: 'a GPU: streams, long prompts, fairness, embeddings, beside llama-server with the same plugin: docs/internals/building.md',
    program: 'gpu/gpu.mjs',
    onRequest: true,
    full: { args: [], minutes: 8, limit: 10 },
    quick: {
      args: ['--models', 'SmolLM2-135M random', '--rounds', '1', '--minutes', '1'],
      minutes: 1,
      limit: 3,
    },
  },
  {
    name: 'monitor',
    what: 'cost of the monitor to a loaded server, alone and with a page, against the same server without',
    program: 'server/monitor.mjs',
    onRequest: true,
    full: { args: [], minutes: 4.5, limit: 20 },
    quick: { args: ['--starts', '1', '--rounds', '60', '--pageRounds', '30'], minutes: 1, limit: 6 },
  },
  {
    name: 'reliability',
    what: 'kills, damaged files, hostile frames and attacks: docs/measurements/reliability.md',
    program: 'reliability/main.mjs',
    onRequest: true,
    full: { args: ['--publish'], minutes: 100, limit: 180 },
    quick: { args: ['--short'], minutes: 2, limit: 6 },
  },
];

export const trialNames = trials.map(({ name }) => name);

/** The trials that a name of `--only` stands for: one, or those of a group; none for an unknown name. */
export const trialsNamed = (wanted) =>
  trials.filter(({ name, group }) => name === wanted || group === wanted).map(({ name }) => name);

/** The trials that run when none is named. */
export const ordinaryTrials = trials.filter(({ onRequest }) => !onRequest).map(({ name }) => name);
