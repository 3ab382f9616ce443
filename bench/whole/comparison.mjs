// The table of README.md: what each program is, and the newest published numbers of the trials `install` and `whole`.
import { engines } from './engines.mjs';

const programs = [
  'lorekeep',
  'qmd',
  'MiniSearch',
  'sqlite-vec',
  'LanceDB',
  'Qdrant',
  'node-llama-cpp',
  'LangChain memory',
];

/** A cell for each program. */
const facts = {
  is: [
    'library, server, commands',
    'library, commands, MCP server',
    'library',
    'SQLite extension',
    'library',
    'server',
    'library',
    'interface of databases',
  ],
  'embeds text itself': [
    'yes, model included',
    'yes, downloads models',
    'no',
    'no',
    'by other packages',
    'in its cloud',
    'yes',
    'by other packages',
  ],
  'finds by': [
    'meaning, words, both',
    'meaning, words, both',
    'words',
    'meaning',
    'meaning, words, both',
    'meaning, words, both',
    '-',
    'meaning, in some databases',
  ],
  'answers from what it found': [
    'quotes, language model',
    'no',
    'no',
    'no',
    'no',
    'no',
    'language model',
    'by other packages',
  ],
  'data that change all the time': ['yes', 'yes', 'yes', 'yes', 'yes', 'yes', '-', 'yes'],
};

const measured = [
  { label: 'first answer, s', key: 'first', digits: 2 },
  { label: 'memory, MB', key: 'memory', digits: 0 },
  { label: 'queries per second', key: 'rate', digits: 0 },
  { label: 'nDCG@10 on Cranfield', key: 'ndcg', digits: 3 },
];

/** @param trials published records @returns Markdown; cells that were not measured are empty */
export function comparison(trials) {
  const rowsOf = (trial) => trials.find(({ name }) => name === trial)?.tables?.[0]?.rows ?? [];
  const [sizes, runs] = [rowsOf('install'), rowsOf('whole')];
  const size = (program) => {
    const { install, note } = sizes.find(({ name }) => name === program) ?? {};
    return install === undefined ? '' : [install.toFixed(0), note].filter(Boolean).join(', ');
  };
  const lines = [
    ['', ...programs],
    Array(programs.length + 1).fill('---'),
    ...Object.entries(facts).map(([label, cells]) => [label, ...cells]),
    ['install, MB', ...programs.map(size)],
    ...measured.map((row) => [row.label, ...programs.map((program) => cell(program, row, runs))]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** An engine that finds only words, of a program that can also find by meaning, says so. */
function cell(program, { key, digits }, runs) {
  const own = engines.filter(({ column }) => column === program);
  const finds = facts['finds by'][programs.indexOf(program)];
  const parts = own.flatMap(({ name, finds: by }) => {
    const value = runs.find((run) => run.name === name)?.[key];
    if (value === undefined || value === null) return [];
    return by === 'words' && finds !== 'words' ? [`words ${value.toFixed(digits)}`] : [value.toFixed(digits)];
  });
  return parts.join('; ');
}
