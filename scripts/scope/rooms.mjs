/**
 * The rooms of the product: their folder, the most lines of hand-written code that each may have, who asks for them (SPEC
 * stands for the contract), and what is lost without them. Raise a budget together with its last column.
 */
export const rooms = [
  ['native/binding', 5600, 'SPEC', 'the addon: without it there is no library'],
  [
    'native/core',
    5400,
    'SPEC',
    'defensive reading and atomic writing of files, thread pools and their watch, cancel tokens, wiping of memory',
  ],
  ['native/crash', 300, 'README', 'crash dumps of native code'],
  ['native/vector', 7000, 'SPEC', 'dense search'],
  [
    'native/text',
    4900,
    'SPEC',
    'BM25, tokenizers, highlights, query syntax, also over the parts of a storage that changes',
  ],
  ['native/filter', 2900, 'SPEC', 'typed metadata and filters inside the search'],
  [
    'native/store',
    8000,
    'SPEC',
    'one search over vectors and words: plans, fusion, relevance; batches, versions and merges of storages that change',
  ],
  ['native/encoder', 1500, 'README', 'embedding on a CPU faster than llama.cpp does it'],
  [
    'native/decoder',
    2900,
    'README',
    'the fastest language models on a CPU, and replies that do not depend on their neighbours',
  ],
  ['native/quant', 3100, 'README', 'products with packed quantised weights, for the encoder and the decoder'],
  ['native/engine', 4400, 'SPEC', 'model files, llama.cpp, GPU plugins, embedding'],
  [
    'native/lm',
    10_100,
    'SPEC',
    'many replies at a time, grammars whose masks fit into a step, templates, sampling, prefixes, rerankers',
  ],
  ['native/scheduler', 1400, 'SPEC', 'quanta, classes and throttling of inference'],
  ['lib', 9400, 'README', 'the typed library'],
  ['src/base', 1600, 'SPEC', 'errors with their place in a file, waiting, file helpers'],
  ['src/search', 500, 'SPEC', 'fields of searches and of records that every door shares'],
  ['src/protocol', 3100, 'SPEC', 'frames, also of changing storages, their codes and errors'],
  ['src/documents', 4200, 'README', 'folders of documents: readers of some twenty kinds, and chunks'],
  ['src/fairness', 1700, 'SECURITY', 'no client stops another one or ends the server'],
  ['src/config', 1600, 'SPEC', 'the config file, flags and variables'],
  ['src/log', 800, 'SPEC', 'logs and their rotation'],
  ['src/models', 4200, 'SPEC', 'catalog, models in memory, downloads'],
  ['src/knowledge', 8400, 'SPEC', 'knowledge bases, indexes of folders with a reading thread, evaluation'],
  ['src/storages', 2000, 'SPEC', 'storages of sessions inside their root'],
  ['src/agents', 5700, 'SPEC', 'graphs, nodes, turns'],
  ['src/operations', 3100, 'SPEC', 'monitor, telemetry, metrics, crash dumps, debug commands'],
  ['src/doors', 3400, 'README', 'HTTP, the shape of OpenAI, WebSocket'],
  ['src/client', 1500, 'README', 'the typed client'],
  ['src/server', 4300, 'SPEC', 'connections and sessions, and the seam of the doors'],
  ['src/cli', 8100, 'README', 'the command line, and MCP over stdio'],
  ['web', 1400, 'SPEC', "the monitor's page"],
];

/** Parts of rooms about which somebody asks whether they may go: name, pattern of their files, advice, reason. */
export const parts = [
  [
    'own decoder for language models',
    /^native\/(decoder|quant)\/|^native\/lm\/model\/(decoder_context|shared_decoder|runtime_choice)|^native\/engine\/decoder_file/,
    'stays',
    "1.4 to 1.8 times llama.cpp's speed on the CPUs measured, 1.1 to 2.1 times ik_llama.cpp's, and a reply has the same words alone and among others. Without it llama.cpp computes everything",
  ],
  [
    'AMX kernels',
    /^native\/.*amx/,
    'stays',
    '1.1 to 1.3 times on servers with Sapphire Rapids or later. No desktop has AMX; the kernels are two files behind the kernel table',
  ],
  [
    'cells, sketches and their calibration',
    /^native\/vector\/(cell|sketch|calibration|codes)/,
    'stays',
    'a filtered search costs at most about twice an unfiltered one, and batches are scanned. Without them a rare filter walks much of the graph',
  ],
  [
    'video memory on request',
    /^src\/server\/video-memory/,
    'stays',
    'a game takes the GPU back within a second. Without it, a product that shares the GPU must stop the server',
  ],
  [
    'own grammar engine, and JSON Schema as grammar',
    /^native\/lm\/grammar\/|^lib\/generation\/(schema-|pattern-|grammar)/,
    'stays',
    "llama.cpp's grammars assert on hostile input, which ends the process",
  ],
  [
    'multilingual tokenizer, query syntax, highlights',
    /^native\/text\/(multilingual|query_|highlight|phrase|prefix)/,
    'stays',
    'documented options that people use',
  ],
  [
    'evaluation of searches',
    /^src\/knowledge\/evaluat|^src\/cli\/eval/,
    'stays',
    '`lorekeep eval` is how users choose a mode and a model. Nothing else needs it: it can go in one commit',
  ],
  [
    'shares of the event loop and of threads',
    /^src\/fairness\//,
    'stays',
    'bench/reliability proves it, attack by attack. May shrink as long as every row keeps its target',
  ],
];

/** Rooms that do not exist yet, with the lines that they may have when they are built. */
export const wings = [
  ['memories', 'src/agents, src/storages', 1200, 'agents that remember, versions of files'],
  ['doors', 'src/doors, web', 1500, 'MCP, a page for people'],
  ['documents', 'src/documents', 1500, 'CommonMark, HTML, EPUB, encodings; the parsers are libraries'],
  ['products', 'clients', 3000, 'clients in C, C# and GDScript; the platforms need no code of the product'],
  ['speech', 'native/speech, lib/speech, src/speech', 3500, 'voice activity and recognition on whisper.cpp'],
  ['past one machine', 'src/engines', 3000, 'Postgres as an engine, remote models'],
];
