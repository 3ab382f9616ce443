// The output of the commands of docs/reference/cli.md and of other pages.
import { once } from 'node:events';
import { createServer } from 'node:net';

const searchCommand =
  'search knowledge/harbour/kb.json "who lights the lamp at night?" --config server-config.json --top-k 2';
const buildCommand = 'build knowledge/harbour/kb.json --config server-config.json';

/** The notes of docs/guides/get-started.md. */
const notes = {
  'bees.txt':
    'Bees see ultraviolet light, and find flowers by patterns that we cannot see.\n\nA bee that has found nectar dances in the hive: angle and length of the dance tell where.\n',
  'ice.txt': 'Glaciers grind valleys into the shape of a U.\n\nIce flows downhill, a metre or so in a day.\n',
};

/** Returns the samples by name; each is the command and what it prints. */
export async function commandLineSamples(folder) {
  return {
    'sample of init': await shown(folder, 'init demo'),
    'sample of build': await shown(folder, buildCommand, 'demo'),
    'sample of search': await shown(folder, searchCommand, 'demo'),
    'sample of check': await checkSample(folder),
    'sample of index': await indexSample(folder),
    'sample of check of a model': await modelSample(folder),
    'sample of doctor': await doctorSample(folder),
  };
}

async function shown(folder, line, place = '.') {
  return `$ lorekeep ${line}\n${await folder.lorekeep(line, { folder: place })}`;
}

/** A record without a text and a misspelt field. */
async function checkSample(folder) {
  const record = (i, text) => `  {"id": "bees#${i}", "text": ${JSON.stringify(text)}}`;
  const records = [
    record(0, 'Bees dance.'),
    record(1, 'Honey keeps.'),
    record(2, 'Wax burns.'),
    record(3, 7),
  ];
  folder.write('kb/records.json', `[\n${records.join(',\n')}\n]\n`);
  const fields = [
    '"embedding_model": "all-MiniLM-L6-v2"',
    '"records_file": "records.json"',
    '"bm25_tokenizer": "enhanced"',
    '"indx_file": "kb.index"',
  ];
  folder.write('kb/kb.json', `{\n${fields.map((field) => `  ${field}`).join(',\n')}\n}\n`);
  return shown(folder, 'check kb.json', 'kb');
}

/** The note about the shipped model whose catalog entry has a reference. */
async function modelSample(folder) {
  const line = 'check --model all-MiniLM-L6-v2';
  // Wide enough for the path of any folder: the text is folded before the path is cut off.
  const output = await folder.lorekeep(line, { env: { COLUMNS: '1000' } });
  return `$ lorekeep ${line}\n${output.replace(/\S*\/(?=[\w.]+:)/g, '')}`;
}

async function indexSample(folder) {
  for (const [name, text] of Object.entries(notes)) folder.write(`notes/${name}`, text);
  const printed = `${await shown(folder, 'index ./notes')}${await shown(folder, 'search "how do bees find flowers?"')}`;
  // The name of the folder has a hash of its path.
  return printed.replace(/(folders\/notes-)[0-9a-f]+/, '$1c2eee57c9491');
}

/** doctor's line about a port that is taken. */
async function doctorSample(folder) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const config = folder.write('taken.json', { port, logs_dir: '' });
  const output = await folder.lorekeep(`doctor --config ${config}`);
  server.close();
  const lines = output.replaceAll(String(port), '9100').split('\n');
  const at = lines.findIndex((line) => line.startsWith('FAILED'));
  return lines.slice(at, at + 2).join('\n');
}

/** A value of the wrong type in a server config. */
export async function configurationSample(folder) {
  const file = folder.write('wrong.json', '{\n  "port": "9100"\n}\n');
  return (await folder.lorekeep(`serve --config ${file}`, { stream: 'stderr' })).replace(
    '/home/me/wrong',
    '/srv/lorekeep/server-config',
  );
}

/** A terminal of 84 columns after a folder was indexed and searched, with its colours. */
export async function terminalSample(folder) {
  for (const [name, text] of Object.entries(notes)) folder.write(`notes/${name}`, text);
  const env = { FORCE_COLOR: '1', NO_COLOR: undefined, COLUMNS: '84' };
  const lines = [
    'index notes',
    'search "how do bees find flowers?"',
    'search "do frozen rivers move?" --top-k 1',
  ];
  const shown = [];
  for (const line of lines) {
    const output = await folder.lorekeep(line, { env });
    shown.push(`\u001b[1m$ npx lorekeep ${line}\u001b[22m\n${output}`);
  }
  return shown.join('\n').replace(/(folders\/notes-)[0-9a-f]+/, '$1c2eee57c9491');
}
