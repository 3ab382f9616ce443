// Whether `cite: "verbatim"` ever misquotes: SmolLM2 answers questions of several collections through a server, with records of
// a hybrid search, half of the replies with temperature 1.5, and is asked to quote with several kinds of marks. Every quotation is
// compared, without code of the node, with the text that was indexed: it is part of a record of that turn, begins and ends with a
// word, and its citation has its characters. So has whatever a reader of one kind of marks takes for a quotation.
//
//   LOREKEEP_MODELS=FOLDER LOREKEEP_DATA=FOLDER node bench/quality/quotations.mjs [--replies 1000] [--only xquad-en,scifact]
//     [--tokens 48] [--at-once 4] [--seed 1] [--keep FILE]
//
// --keep: replies are added to this file as lines of JSON. Ends with status 1 if a quotation is wrong.
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cached, dataFolder, root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { Random } from '../harness/numbers.mjs';
import { connect } from '../lorekeep.mjs';
import { startServer } from '../server/server-process.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';

const { values: options } = commandLine({
  options: {
    replies: { type: 'string', default: '1000' },
    only: {
      type: 'string',
      default: 'xquad-en,scifact,cranfield,cisi,xquad-de,xquad-ru,xquad-zh,xquad-ar,xquad-hi,xquad-el',
    },
    tokens: { type: 'string', default: '48' },
    'at-once': { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'string' },
  },
});
const models = resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'));
const file = join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf');
/** Records of a storage; fewer are embedded sooner. */
const maxRecords = 300;
/** Characters of a record that fit into the context of the embedding model: of Latin letters, and of others. */
const longest = { latin: 1200, other: 400 };
const temperatures = [0.7, 1.5];
/** What the system text asks for; undefined: nothing but the default. */
const asked = [undefined, '“ and ”', '« and »', '„ and “', "' and '", '「 and 」', '‘ and ’'];
/** Marks, and what readers take for quoted who know one kind of them only. */
const marks = /["“”„‟⹂«»‹›「」『』｢｣﹁﹂﹃﹄〝〞〟＂]/u;
const readers = [
  ...[
    /"([^"]*)"/gu,
    /“([^”]*)”/gu,
    /„([^“]*)“/gu,
    /„([^”]*)”/gu,
    /«([^»]*)»/gu,
    /‹([^›]*)›/gu,
    /「([^」]*)」/gu,
  ],
  ...["'", '‘', '’', '‚'].map((mark) => new RegExp(`(?<![\\p{L}\\p{N}\\p{M}_])(${mark}.*)`, 'gsu')),
];

if (!collectionsPresent() || !existsSync(file)) {
  console.log(`bench/quality: left out, no collections under ${dataFolder} or no ${file}`);
  process.exit(0);
}
const random = new Random(Number(options.seed));
const server = await startServer(folder(), {
  models_catalog_path: 'models.json',
  include_interaction_in_diagnostics: true,
});
// So that the server ends, too.
process.once('exit', () => server.running() && process.kill(server.pid, 'SIGKILL'));
const client = await connect({ port: server.port });
const session = await client.createSession();
const names = options.only.split(',');
const rows = [];
for (const name of names) rows.push(await measure(name, Math.ceil(Number(options.replies) / names.length)));
await client.close();
await server.stop();
report();

/** A folder with a catalog of one embedding model and one language model. */
function folder() {
  const path = cached('quotations', 'models.json');
  mkdirSync(join(path, '..'), { recursive: true });
  const embedding = { file: join(root, 'data', 'models', 'lorekeep-mini.gguf') };
  const list = [
    { name: 'mini', model_type: 'embedding', variants: [embedding] },
    { name: 'smol', model_type: 'llm', variants: [{ file, context_size: 4096 }] },
  ];
  writeFileSync(path, JSON.stringify({ version: 1, models: list }));
  return join(path, '..');
}

async function measure(name, replies) {
  const { documents, queries } = readCollection(name);
  const most = /xquad-(?!en|de)/.test(name) ? longest.other : longest.latin;
  const texts = documents.slice(0, maxRecords).map(({ text }) => text.slice(0, most));
  await session.createEmbeddedStringStorage({ name, strings: texts, embeddingModel: 'mini' });
  const row = { name, replies: 0, quoting: 0, quotations: 0, characters: 0, cut: 0, wrong: [] };
  const ask = async () => {
    const kinds = asked.flatMap((between) => temperatures.map((temperature) => ({ between, temperature })));
    const agents = await Promise.all(kinds.map((kind) => agentOf(name, kind)));
    while (row.replies < replies) {
      const at = row.replies++;
      const { text } = queries[random.integer(queries.length)];
      const turn = await agents[at % agents.length].turn(text);
      check(row, texts, turn);
      if (options.keep !== undefined)
        appendFileSync(
          options.keep,
          `${JSON.stringify({ name, text, reply: turn.text, citations: turn.citations })}\n`,
        );
    }
  };
  await Promise.all(Array.from({ length: Number(options['at-once']) }, ask));
  console.log(`${name}: ${row.replies} replies, ${row.quotations} quotations, ${row.wrong.length} wrong`);
  return row;
}

function agentOf(storage, { between, temperature }) {
  const search = { embeddedStringStorage: storage, mode: 'hybrid', topK: 3 };
  const talk = { cite: 'verbatim', maxTokens: Number(options.tokens), temperature, history: { turns: 0 } };
  if (between !== undefined)
    talk.system = `Answer from the context. Quote the words of the context between ${between}.`;
  return session.createAgent({
    enableDiagnostics: true,
    graph: {
      nodes: [
        { id: 'kb', type: 'retrieve', params: search },
        { id: 'talker', type: 'generate', params: talk },
      ],
    },
  });
}

/** Compares each quotation and each citation of a turn with the indexed texts. */
function check(row, texts, { text: reply, citations = [], finish, diagnostics }) {
  const retrieved = diagnostics.interaction.filter(({ _type }) => _type === 'knowledge').map(({ id }) => id);
  const quotes = quotationsOf(reply);
  row.quotations += quotes.length;
  row.quoting += Number(quotes.length > 0);
  for (const { quoted, start, closed } of quotes) {
    row.characters += quoted.length;
    row.cut += Number(!closed);
    const wrong = (what) => row.wrong.push({ what, quoted, reply });
    const holding = retrieved.filter((id) => texts[id].includes(quoted));
    if (holding.length === 0) wrong('no record of the turn has it');
    else if (!holding.some((id) => ofWholeWords(texts[id], quoted, closed))) wrong('part of a word');
    if (!closed && finish === 'stop') wrong('the reply ended within it');
    const found = citations.filter((one) => one.replyStart === start);
    if (found.length !== 1) wrong(`${found.length} citations`);
    for (const { id, kind, replyEnd, ...place } of found) {
      if (kind !== 'quote' || replyEnd !== start + quoted.length) wrong('another place in the reply');
      if (!retrieved.includes(id) || texts[id].slice(place.start, place.end) !== quoted)
        wrong('other characters of the record');
    }
  }
  if (citations.length !== quotes.length)
    row.wrong.push({ what: `${citations.length} citations of ${quotes.length} quotations`, reply });
  for (const [, quoted] of readers.flatMap((reader) => [...reply.matchAll(reader)])) {
    if (!retrieved.some((id) => texts[id].includes(quoted)))
      row.wrong.push({ what: 'a reader sees a quotation that no record has', quoted, reply });
  }
}

/** The texts between two marks, and behind a last mark that is not closed. */
function quotationsOf(reply) {
  const found = [];
  const parts = reply.split(marks);
  let start = 0;
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 1 && part !== '') found.push({ quoted: part, start, closed: at + 1 < parts.length });
    start += part.length + 1;
  }
  return found;
}

/** Whether a text has the quotation somewhere between borders of words; a cut one may end anywhere. */
function ofWholeWords(text, quoted, closed) {
  const splits = (at) => /^[\p{L}\p{N}]{2}$/u.test(text.slice(at - 1, at + 1)) && isSpaced(text[at]);
  for (let at = text.indexOf(quoted); at >= 0; at = text.indexOf(quoted, at + 1)) {
    if (!splits(at) && !(closed && splits(at + quoted.length))) return true;
  }
  return false;
}

/** Whether the letter is of a script that writes spaces between words. */
function isSpaced(letter) {
  return /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{N}]/u.test(letter);
}

function report() {
  const sum = (get) => rows.reduce((total, row) => total + get(row), 0);
  const cells = [...rows, { name: 'all' }].map(({ name }) => {
    const of = (get) => (name === 'all' ? sum(get) : get(rows.find((row) => row.name === name)));
    const numbers = ['replies', 'quoting', 'quotations', 'characters', 'cut'].map((key) =>
      of((row) => row[key]),
    );
    return [name, ...numbers, of(({ wrong }) => wrong.length)];
  });
  console.log(
    '| collection | replies | with quotations | quotations | characters | cut at the end | wrong |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  for (const row of cells) console.log(`| ${row.join(' | ')} |`);
  for (const one of rows.flatMap(({ wrong }) => wrong).slice(0, 10)) console.log(JSON.stringify(one));
  process.exitCode = sum(({ wrong }) => wrong.length) > 0 ? 1 : 0;
}
