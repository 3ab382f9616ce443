/**
 * The rooms of the product: their folder, the most lines of hand-written code that each may have, who asks for them (SPEC
 * stands for the contract), and what is lost without them. Raise a budget together with its last column.
 */
export const rooms = [
  [
    'native/binding',
    6250,
    'SPEC',
    'the addon: without it there is no library; kept embeddings; the terms of texts and queries for engines in databases',
  ],
  [
    'native/core',
    5600,
    'SPEC',
    'defensive reading and atomic writing of files, also over mapped ones on Windows, thread pools and their watch, cancel tokens, wiping of memory, tables that no chosen text slows',
  ],
  ['native/crash', 300, 'README', 'crash dumps of native code'],
  ['native/vector', 7300, 'SPEC', 'dense search, also over the parts of a storage that changes'],
  [
    'native/text',
    6890,
    'SPEC',
    'BM25, tokenizers of all scripts and of code, highlights, the best part of a text with a million matches, query syntax, a thousand prefixes and phrases of which read each text at most twice, also over the parts of a storage that changes, dictionaries that no chosen word slows, and an index built three times as fast because tokens of words that occurred before are remembered',
  ],
  ['native/filter', 2900, 'SPEC', 'typed metadata and filters inside the search'],
  [
    'native/store',
    8000,
    'SPEC',
    'one search over vectors and words: plans, fusion, relevance; batches, versions and merges of storages that change',
  ],
  [
    'native/encoder',
    1900,
    'README',
    'embedding, and hearing, on a CPU faster than llama.cpp and whisper.cpp do it',
  ],
  [
    'native/decoder',
    2900,
    'README',
    'the fastest language models on a CPU, and replies that do not depend on their neighbours',
  ],
  ['native/quant', 3100, 'README', 'products with packed quantised weights, for the encoder and the decoder'],
  [
    'native/engine',
    5450,
    'SPEC',
    'model files, llama.cpp, GPU plugins, embedding, the tokenizers of BERT and XLM-RoBERTa',
  ],
  [
    'native/lm',
    11_950,
    'SPEC',
    'many replies at a time, grammars whose masks fit into a step, templates that compute, compare and format as jinja2 does in every script and what they use that is not supported, channels, sampling, prefixes, rerankers, runtimes that are judged on text, and forgotten texts found in all prompts',
  ],
  [
    'native/speech',
    2210,
    'SPEC',
    'voice activity computed here, with borders within 100 ms, and speech to text by whisper.cpp that never goes round in circles, on an encoder of our own, with checks of their files, and times of words, the first ones too, within 75 ms at the median, also of languages without spaces',
  ],
  ['native/scheduler', 1400, 'SPEC', 'quanta, classes and throttling of inference'],
  [
    'lib',
    14_560,
    'README',
    'the typed library, also of speech, recognised by the classes of its callers, log-probabilities made objects in parts, and schemas as grammars: merges, unions, patterns, formats and multiples as automata, ranges of numbers digit by digit, whose work is counted, whose loops a new process compiles fast, whose states look at the characters that matter to them, whose lengths are counted in the grammar, only where texts may become too long, and whose formats and the patterns of zod are derived before, the formats of Pydantic in automata of fewest states, and schemas without an end; alternatives told apart by names of their own without pairs, also of OpenAPI 3.0 and draft 4; the addon of musl, told by the dynamic loader; former records forgotten while the newest stay; the words of a change log, saved and loaded',
  ],
  [
    'src/base',
    2000,
    'SPEC',
    'errors with their place in a file, arrays bounded before their items, exact integers in JSON, words that say nothing in 20 languages, waiting, steps that count what they cause, file helpers, lists of addresses and networks',
  ],
  ['src/search', 500, 'SPEC', 'fields of searches and of records that every door shares'],
  [
    'src/protocol',
    3720,
    'SPEC',
    'frames, also of kept sessions, also over WebSockets whose unfinished messages count, also of changing storages, of what is forgotten and of audio, their codes and errors',
  ],
  [
    'src/documents',
    9600,
    'README',
    'folders of documents: readers of some twenty kinds, calendars with the zones that they describe, read once, and contacts, the layout of PDF pages with the accents and ligatures of TeX, office files as people see them with charts and diagrams, tables and JSON that are not quite well-formed, mail with what Outlook wraps, scans by OCR, encodings of Windows, Macintosh, DOS and East Asia told by few letters and their neighbours, patterns of .gitignore whose steps are bounded, chunks, MDX without its code, cells of marked tables that span columns, rows and lines, and their languages; tables, scans and mails of any length in time that grows with them',
  ],
  ['src/fairness', 1700, 'SECURITY', 'no client stops another one or ends the server'],
  [
    'src/config',
    1700,
    'SPEC',
    'the config file, flags and variables, and that no config opens the doors to others without a secret',
  ],
  ['src/log', 800, 'SPEC', 'logs and their rotation'],
  [
    'src/speech',
    1470,
    'SPEC',
    'voice settings of servers and commands, audio files, also those of more than 4 GiB, transcripts of any length whose pieces are recognised together, streams of audio with text while somebody speaks and after each pause, microphones that lose nothing and keep what was said before they fail, dumps, also after an operator made room for them',
  ],
  [
    'src/models',
    5830,
    'SPEC',
    'catalog, models in memory, downloads; models that another server computes, whatever it answers, a pause for one that is down',
  ],
  [
    'src/knowledge/postgres',
    3570,
    'users who outgrow one machine',
    'knowledge bases in Postgres with pgvector: connections of the operator, with a pool and cancellation that survive broken connections, push, pull and comparison, the same search in one statement, indexes for filters and the choice between scan and walk, changes',
  ],
  [
    'src/knowledge',
    13_800,
    'SPEC',
    'knowledge bases that change, forget what they had before and complete a forgetting that was killed and clear away what one left that had not begun, and bring nothing back that is forgotten while it is indexed or built, indexes of folders that stay current and count their live records, choose a model by language, keep their embeddings and forgotten texts wherever they are moved, copied or made anew, go on where a move was killed and count the disk behind them, clear what other configs over the same records have of forgotten texts, write to no folder that has taken the place of their own, let go of a base whose records were replaced, notice that a remote model was replaced, open without its server, learn which relevance nonsense reaches, read the log of changes beside the other files, save its words beside it and take them on opening, count a replaced records file as a version, batches that are copied and converted before they are logged, integers of any size that clients write as texts and are listed; the socket of the operator, whose changes end with their command, whose limit is told before anything is sent, and by which a process lets others change, and which tells that a process has ended; evaluation; the interface of an engine',
  ],
  [
    'src/storages',
    3680,
    'SPEC',
    'sessions kept in Postgres for the next server, with secrets, bounds and fencing; storages of sessions inside their root; memories of agents: secrets, merged statements, limits of the disk, and what is merged at them',
  ],
  [
    'src/agents',
    7010,
    'SPEC',
    'graphs, nodes, turns, agents that remember, params that a remote model lacks refused, and forget what a client confirms, with its citations and in texts that were cut, in slices; full queues of turns that end in slices',
  ],
  ['src/operations', 3100, 'SPEC', 'monitor, telemetry, metrics, crash dumps, debug commands'],
  [
    'src/doors',
    6680,
    'README',
    'HTTP, with a document that describes every reply, also below the header of a balancer, bodies and events in slices, records, the shape of OpenAI with reasoning, with tools beside JSON formats, with log-probabilities beside the text, with mistakes of requests told from those of agents, MCP that names every storage, writes its list of tools once for the same storages and tells every mistake in its own words, certificates that are renewed without a restart, WebSocket, the page for people',
  ],
  [
    'src/client',
    2300,
    'README',
    'the typed client, also of audio, over TCP and in browsers over WebSocket, which makes changed storages again as they were left, and also starts a server in a folder of its own',
  ],
  [
    'src/server',
    6350,
    'SPEC',
    'kept sessions that are resumed, connections and sessions, clients behind balancers by the PROXY protocol, streams of audio and spoken turns, names that recognition expects, the seam of the doors, the passes of pages, forgetting, watched folders, the connections of the operator',
  ],
  [
    'src/cli',
    9640,
    'README',
    'the command line, which loads what a command needs when it needs it, lets merge through a server, tells others of forgotten texts in pieces, with indexes of folders and their watch, MCP over stdio, and opening the page; transcripts, with the voice settings of the catalog, of many files, of which some cannot be read; flags of listen without effect, prompts that are too long, and models that it lacks, before anything is indexed; subtitles of a readable length; indexes removed of which some stay; remote models listed and asked; push and pull of knowledge bases in databases; records of files read with nothing lost in silence; a first line in a file for programs that cannot read output',
  ],
  [
    'web',
    3900,
    'SPEC',
    "the monitor's page with actions and a chart that tells its values, and the page for people: search, answers, documents, words of input methods, a server that has gone",
  ],
  [
    'clients',
    7700,
    'README',
    'clients in Python (threads and asyncio, speech), C (POSIX and Winsock), C# (tasks and async streams, also polled, and in Unity) and GDScript (a node of Godot 3), each with its own framing, and JSON where the language has none; each replaces a lost connection, makes sessions, changed storages and histories again, and starts a server of its own; the client for Godot 4 is derived; their frames are generated',
  ],
  [
    'examples',
    950,
    'README',
    'a game in C that counts its late frames while twelve characters talk, none of whom learns what only another one may know; a desktop app that starts, ends and updates with a server of its own',
  ],
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

/**
 * Parts that were built on the house of 27 November 2026: name, rooms, the lines that were stated before the first one was written,
 * the lines that these rooms had by then, what the part buys. A part to come states its lines here first.
 */
export const wings = [
  [
    'storages that change',
    ['native/store', 'src/knowledge', 'src/storages'],
    4500,
    11326,
    'add, replace, remove, forget, versions, memories, folders that stay current',
  ],
  ['doors', ['src/doors', 'web'], 4000, 1298, 'HTTP, the shape of OpenAI, MCP, WebSocket, a page for people'],
  [
    'documents',
    ['src/documents'],
    1500,
    1977,
    'some twenty kinds of files as people see them; the parsers are libraries',
  ],
  [
    'products',
    ['clients', 'examples'],
    3000,
    653,
    'clients in Python, C, C# and GDScript; a game, a desktop app',
  ],
  ['speech', ['native/speech', 'src/speech'], 3500, 0, 'voice activity, and recognition on whisper.cpp'],
  [
    'past one machine',
    ['src/knowledge/postgres', 'src/models'],
    3000,
    3622,
    'Postgres as an engine, models that another server computes, downloads that go on',
  ],
];
