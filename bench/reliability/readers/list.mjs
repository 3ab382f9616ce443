// The readers of text from outside, one row each:
//
//   name       for people
//   limit      characters of the field; what a file may have is tried at 4 MiB, in the short form at 1
//   tokens     what the search builds texts from
//   seeds      contents to start from, besides each token alone
//   read(text) reads it; refusals are an answer
//   ownThread  the reader has a thread of its own, which can be ended: its pieces may be long, but not its time per character
//   open, close
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EmbeddingModel, LanguageModel, Storage, tokenize } from '../../../dist/lib/internal.js';
import { ForgottenTexts } from '../../../dist/src/agents/forgotten-texts.js';
import { Interaction } from '../../../dist/src/agents/interaction.js';
import { PatternThread } from '../../../dist/src/agents/lists/pattern-thread.js';
import { compilePatterns, findPatterns } from '../../../dist/src/agents/lists/patterns.js';
import { Delivery } from '../../../dist/src/agents/nodes/generate/delivery.js';
import { MarkFilter, plainInSlices } from '../../../dist/src/agents/nodes/generate/marks.js';
import { bestSentences } from '../../../dist/src/agents/nodes/quote/best-sentences.js';
import { Template } from '../../../dist/src/agents/template.js';
import { mayBeSame, normalText } from '../../../dist/src/storages/memories/statement.js';
import { writeTinyDecoder } from '../../../test/helpers/tiny-model/tiny-decoder.mjs';
import { createTinyModel } from '../../../test/helpers/tiny-model/tiny-model.mjs';
import { cards } from './list-cards.mjs';
import { constraints } from './list-constraints.mjs';
import { containers } from './list-containers.mjs';
import { doorBodies, doorMessages } from './list-doors.mjs';
import { documents, ignoring } from './list-files.mjs';
import { databases, sockets } from './list-peers.mjs';
import { remote } from './list-remote.mjs';
import { speech } from './list-speech.mjs';
import { odd, parsedInSlices, refused, words } from './parts.mjs';

const mib = 1024 * 1024;
const never = new AbortController().signal;
const knowledge = Array.from({ length: 5 }, (_, n) => ({
  ...{ _type: 'knowledge', node: 'k', storage: 's', id: `${n}`, text: 'a text', rank: n + 1, score: 1 },
}));
const sources = new Map([
  ['k', { query: 'a text of words', storage: { tokenizer: 'basic', size: 10, documentFrequency: () => 1 } }],
]);
const prose = [
  ...words('a Zz e.g. Mr. J. 1. 3,5 ! ? … " “ ” ( ) [ ] - — … ; : \' @ /'),
  ' ',
  '\n',
  '\r\n',
  '\t',
  ...odd,
];

/** Reads in pieces of a reply, which are turns of their own. */
async function inTurns(text, take, length = 5) {
  for (let at = 0; at < text.length; at += length) {
    if (at % (length * 32) === 0) await nextTurn();
    take(text.slice(at, at + length));
  }
}

const generating = [
  {
    name: 'marks in prompts',
    limit: 4 * mib,
    tokens: [...words('[1] [1,2] [9-1] [ ] 【1】 ` `` 1 , - ~ 1000000000 x'), ' ', '\n'],
    read: (text) => plainInSlices(text, 5, 'nothing'),
  },
  {
    name: 'marks in replies',
    limit: 65_536,
    tokens: [...words('[1] [1,2] [9-1] [ ] 【1】 ` `` 1 , - x'), ' ', '\n'],
    read: async (text) => {
      const filter = new MarkFilter(knowledge);
      await inTurns(text, (piece) => filter.push(piece));
      filter.finish();
    },
  },
  {
    name: 'sentences of replies',
    limit: 16_384,
    tokens: prose,
    read: async (text) => {
      const delivery = new Delivery('sentence', () => {});
      await inTurns(text, (piece) => delivery.push(piece));
      delivery.finish();
    },
  },
  {
    name: 'sentences of records',
    limit: mib,
    tokens: prose,
    read: (text) => bestSentences([{ ...knowledge[0], text }], sources, { count: 3, minScore: 0 }, never),
  },
  {
    name: 'Mustache',
    limit: 16_384,
    tokens: [
      ...words(
        '{{ }} {{a}} {{{a}}} {{#a}} {{/a}} {{^a}} {{!a}} {{> {{& {{=< >=}} {{variables.a}} {{#l}} {{/l}} . a',
      ),
      ' ',
      '\n',
    ],
    seeds: [{ head: '{{#variables}}', unit: '{{#l}}', tail: '{{a}}', close: '{{/l}}' }],
    read: (text) =>
      refused(() =>
        new Template(text).render(new Interaction('a message', { a: 'x', l: [1, 2, [3]], t: { a: ' ' } })),
      ),
  },
];

const remembering = [
  {
    name: 'statements to remember',
    limit: 16_384,
    tokens: [...prose, '\u0301\u0323', '\u1100\u1161', '\ufdfa', "n't", 'Ａ'],
    read: async (text) => {
      normalText(text);
      mayBeSame(text, `${text} again`);
    },
  },
  {
    name: 'texts that may quote forgotten records',
    limit: mib,
    tokens: [...prose, '\\', '"', 'a sentence that is forgotten. '],
    seeds: [
      { head: 'b', unit: 'a' },
      { unit: 'a', tail: 'b' },
    ],
    read: async (text) => {
      const forgotten = await ForgottenTexts.of([text.slice(text.length / 2), `${text.slice(0, 2000)}.`]);
      await forgotten.quotedBy(text.slice(0, text.length / 2));
      await forgotten.quotedByJsonOf({ text });
    },
  },
];

const frames = [
  {
    name: 'JSON of frames',
    limit: 4 * mib,
    tokens: [
      ...words('{ } [ ] , : "a" 1 -1.5e9 true null "\\u0041" "\\\\" [1], {"a":1}, "b":2 é 蜜'),
      ' ',
      '\n',
    ],
    seeds: [
      { head: '[', unit: '1,', tail: '1]' },
      { head: '["', unit: '\\u0041', tail: '"]' },
      { head: '["', unit: 'é', tail: '"]' },
      { head: '', unit: '[', tail: '1', close: ']' },
      { head: '{"a":1', unit: ',"\\u0061":1', tail: '}' },
    ],
    read: (text) => refused(() => parsedInSlices(text)),
  },
];

function searches() {
  let storage;
  const search = {
    open: async () => {
      const records = Array.from({ length: 500 }, (_, n) => ({
        id: `${n}`,
        text: `record ${n} aa b c`,
        metadata: { y: n, s: ['a'] },
      }));
      const fields = [
        { name: 'y', type: 'int', default: 0 },
        { name: 's', type: 'set<string>', optional: true },
      ];
      storage = await Storage.build(
        records,
        Float32Array.from({ length: 500 * 8 }, (_, n) => Math.sin(n)),
        8,
        { fields },
      );
    },
    close: () => storage.close(),
  };
  return [
    {
      ...search,
      name: 'filters',
      limit: 262_144,
      tokens: [
        ...words(
          '{ } [ ] , : "y" 1 "a" true "==": "in": "and": "or": "not": {"knowledge":"y"} {"variable":"v"}',
        ),
        '{"==":[{"knowledge":"y"},1]},',
      ],
      seeds: [
        { head: '{"in":[{"knowledge":"y"},[', unit: '1,', tail: '1]]}' },
        { head: '{"in":[{"knowledge":"s"},[', unit: '"a",', tail: '"b"]]}' },
        { head: '{"and":[', unit: '{"==":[{"knowledge":"y"},1]},', tail: '{"y":{"<":3}}]}' },
        { head: '', unit: '{"not":', tail: '{"y":{"<":3}}', close: '}' },
      ],
      read: async (text) => {
        const filter = await refused(() => JSON.parse(text));
        if (filter) await refused(() => storage.search({ text: 'record', mode: 'lexical', topK: 5, filter }));
      },
    },
    {
      ...search,
      name: 'queries with operators',
      limit: 32_768,
      tokens: [...words('a aa record "a b" + - * ~ " ( ) OR a* é 1 b~1'), ' ', ...odd],
      read: (text) =>
        refused(() =>
          storage.search({
            text,
            mode: 'lexical',
            topK: 5,
            highlight: true,
            lexical: { querySyntax: 'extended', fuzziness: 1 },
          }),
        ),
    },
    {
      name: 'metadata of records',
      limit: mib,
      tokens: [...words('%, a, %%%%%%%%, é%, aaaaaaaaaaaaaaaa'), ';', ',', '%'],
      seeds: [{ unit: '%,' }, { unit: '%;' }, { unit: 'a' }, { unit: '%,%,%,%,%,%,%,%;' }],
      /** `;` ends a record, `,` a tag, and `%` is another number each time. More records would measure the graph of their vectors. */
      read: (text) =>
        refused(async () => {
          let count = 0;
          const records = text.split(';', 1000).map((part, n) => {
            const tags = part.replaceAll('%', () => count++).split(',');
            return { id: `${n}`, text: 'a', metadata: { s: tags } };
          });
          const fields = [{ name: 's', type: 'set<string>', optional: true }];
          const vectors = new Float32Array(records.length * 8).fill(1);
          await (await Storage.build(records, vectors, 8, { fields })).close();
        }),
    },
    ...['basic', 'enhanced', 'multilingual'].map((tokenizer) => ({
      name: `words of the tokenizer ${tokenizer}`,
      limit: 32_768,
      tokens: prose,
      read: async (text) => tokenize(text, tokenizer),
    })),
  ];
}

function models(folder) {
  let model;
  const loaded = (load) => ({
    open: async () => {
      model = await load();
    },
    close: () => model.close(),
  });
  const path = (name) => join(folder, name);
  let made = 0;
  return [
    {
      name: 'chat templates',
      limit: 65_536,
      tokens: [
        ...words('{{ }} {% %} {# #} a 1 + ~ | "a" ( ) [ ] , messages . {{messages[0].content}}'),
        ...[
          '{% for m in messages %}',
          '{% endfor %}',
          '{% if a %}',
          '{% endif %}',
          '{% set a = a ~ a %}',
          '{{ m.content|trim }}',
          ' if ',
          ' else ',
          ' ',
        ],
      ],
      seeds: [
        { head: '{{messages[0].content}}', unit: '{{a}}' },
        {
          head: '{{messages[0].content}}{% for i in range(9999) %}',
          unit: '{{ i ~ i }}',
          tail: '{% endfor %}',
        },
        {
          head: '{{messages[0].content}}',
          unit: '{% for m in messages %}',
          tail: 'a',
          close: '{% endfor %}',
        },
      ],
      read: async (template) => {
        const file = path(`template-${made++ % 4}.gguf`);
        await writeTinyDecoder('llama', file, { template });
        const own = await LanguageModel.load(file, { threads: 1, batchThreads: 1 });
        await refused(() => own.render([{ role: 'user', content: 'hello' }]));
        await own.close();
      },
    },
    {
      ...loaded(async () => {
        const template = '{% for m in messages %}<s>{{ m.role }}: {{ m.content | trim }}</s>{% endfor %}';
        await writeTinyDecoder('llama', path('writer.gguf'), { context: 262_144, template });
        return LanguageModel.load(path('writer.gguf'), { threads: 1, batchThreads: 1 });
      }),
      name: 'messages for a chat template, and their tokens',
      limit: 262_144,
      tokens: [...prose, '<s>', '</s>', '[INST]', '<think>', '▁'],
      read: (text) =>
        refused(async () => {
          await model.countTokens(text);
          await model.render([{ role: 'user', content: text }]);
        }),
    },
    {
      ...loaded(async () => {
        await createTinyModel({ texts: ['aa b c record'], path: path('tiny.gguf'), dimension: 32 });
        return EmbeddingModel.load(path('tiny.gguf'), { threads: 1 });
      }),
      name: 'tokens of texts to embed',
      limit: Math.floor(mib / 3),
      tokens: [...prose, '[CLS]', '##a', '蜜'],
      read: (text) => refused(() => model.countTokens(text)),
    },
    {
      ...loaded(async () => {
        // Pieces that begin alike, and one character from the end otherwise.
        const texts = [Array.from({ length: 40 }, (_, n) => `${'a'.repeat(n)}b aa ba`).join(' ')];
        await createTinyModel({ texts, path: path('unigram.gguf'), dimension: 32, tokenizer: 'unigram' });
        return EmbeddingModel.load(path('unigram.gguf'), { threads: 1 });
      }),
      name: 'tokens of a unigram model',
      limit: Math.floor(mib / 3),
      tokens: [...prose, 'b', '<s>', '<unk>', '▁', '▁a', '蜜', '\ufdfa', 'ﬁ', '\u3000'],
      seeds: [{ unit: 'a' }, { unit: 'a', tail: 'b' }, { unit: ' ' }, { unit: '\ufdfa' }, { unit: '<s>' }],
      read: (text) => refused(() => model.countTokens(text)),
    },
  ];
}

function patterns() {
  let thread;
  let nasty;
  const share = () => thread.join();
  const source = { file: 'list', where: 'here' };
  const own = {
    ownThread: true,
    open: async () => {
      thread = new PatternThread();
      nasty = await compilePatterns(
        ['(a|b)*c', '(x+x+)+y', '([a-z]{1,9}){1,9}1', '.*.*=.*', '\\b(a?){50}a{50}'].map((text, line) => ({
          text,
          line,
        })),
        source,
        share(),
      );
    },
    close: () => thread.close(),
  };
  return [
    {
      ...own,
      name: 'patterns of guardrails',
      limit: 1000,
      tokens: words('a . * + ? {2} {1,9} {1000} ( ) (?: (?i) | [a-z] [^a] \\d \\pL \\b \\ ^ $'),
      seeds: [
        { head: '', unit: '(', tail: 'a', close: '?)' },
        { head: '', unit: '(a{9}', tail: '', close: '){9}' },
      ],
      read: (text) => refused(() => compilePatterns([{ text, line: 1 }], source, share())),
    },
    {
      ...own,
      name: 'texts for guardrails',
      limit: 131_072,
      tokens: [...words('a b x y c = 1 ab'), ' ', ...odd],
      read: (text) => findPatterns(nasty, text, share(), never),
    },
  ];
}

/** The rows. `short`: files have a quarter of the characters. */
export async function readersIn(folder, { short }) {
  mkdirSync(folder, { recursive: true });
  const all = [
    ...generating,
    ...remembering,
    ...constraints,
    ...frames,
    ...doorBodies,
    ...doorMessages(),
    ...sockets,
    ...databases,
    ...remote,
    ...speech(folder),
    ...searches(),
    ...models(folder),
    ...patterns(),
    ...documents(folder, short ? mib : 4 * mib),
    ...containers(folder, short ? mib : 4 * mib),
    ...cards(folder, short ? mib : 4 * mib),
    ...ignoring,
  ];
  return { readers: all, close: async () => {} };
}
