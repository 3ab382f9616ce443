// Serves a page on which you talk with an agent about a text:
//
//   node examples/voice/serve.mjs ggml-tiny.en.bin [lighthouse.txt] [--port 8080]
//
// The first argument is a Whisper model (`lorekeep models pull "Whisper tiny.en"`, or any ggml-*.bin file). The agent quotes the
// paragraphs of the text that answer; docs/guides/language-models.md says how it can speak freely.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SpeechRecogniser } from 'lorekeep';
import { startServer } from 'lorekeep/client';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '8080' } },
});
const [whisper, text = join(import.meta.dirname, '..', 'lighthouse.txt')] = positionals;
if (whisper === undefined)
  fail('usage: node examples/voice/serve.mjs ggml-tiny.en.bin [text.txt] [--port 8080]');
for (const file of [whisper, text]) if (!existsSync(file)) fail(`${file}: there is no such file`);
// A file that is no model is refused here, not on the page.
const recogniser = await SpeechRecogniser.load(whisper).catch((error) => fail(error.message));
await recogniser.close();

const lorekeep = dirname(fileURLToPath(import.meta.resolve('lorekeep/package.json')));
const folder = mkdtempSync(join(tmpdir(), 'lorekeep-voice-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));

// The page comes from a server of its own, so the door must know its origin.
const page = createServer(answer);
try {
  await once(page.listen(Number(values.port), '127.0.0.1'), 'listening');
} catch (error) {
  fail(`--port ${values.port}: ${error.message}`);
}
const origin = `http://127.0.0.1:${page.address().port}`;

const door = await freePort();
writeJson('server-config.json', {
  models_catalog_path: 'models.json',
  default_vad_model: 'Silero VAD',
  http: { enabled: true, port: door, cors_origins: [origin] },
});
writeJson('models.json', { version: 1, models: catalog() });
const server = await startServer({ config: join(folder, 'server-config.json'), dataDir: folder });
server.exited.then(() => fail('the server has ended'));

const paragraphs = readFileSync(text, 'utf8')
  .split(/\n\s*\n/)
  .filter((paragraph) => paragraph.trim() !== '');
const settings = {
  // Names of the text, so that the recogniser spells them so: capital letters within a sentence.
  terms: [...new Set(paragraphs.join(' ').match(/(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*/g) ?? [])].slice(
    0,
    100,
  ),
  url: `ws://127.0.0.1:${door}/v1/socket`,
  accessToken: server.accessToken,
  storages: [{ name: 'text', strings: paragraphs, embeddingModel: 'all-MiniLM-L6-v2' }],
  graph: {
    nodes: [
      { id: 'search', type: 'retrieve', params: { embeddedStringStorage: 'text', topK: 3 } },
      { id: 'answer', type: 'quote', params: { maxSentences: 2, minScore: 0.1 } },
    ],
  },
};
console.log(`${origin}/`);

/** The models of the package, and the recogniser. */
function catalog() {
  const file = join(lorekeep, 'data', 'models.json');
  const shipped = JSON.parse(readFileSync(file, 'utf8')).models.filter(({ name }) =>
    ['all-MiniLM-L6-v2', 'Silero VAD'].includes(name),
  );
  for (const { variants } of shipped)
    for (const variant of variants) {
      variant.file = resolve(dirname(file), variant.file);
      if (variant.reference) variant.reference.file = resolve(dirname(file), variant.reference.file);
    }
  return [...shipped, { name: 'Whisper', model_type: 'stt', variants: [{ file: resolve(whisper) }] }];
}

function answer({ url, headers }, response) {
  // A page of another name that leads here must not read the token.
  if (headers.host !== new URL(origin).host) return response.writeHead(403).end();
  const files = {
    '/': [join(import.meta.dirname, 'index.html'), 'text/html'],
    '/voice.js': [join(import.meta.dirname, 'voice.js'), 'text/javascript'],
    '/microphone.js': [join(import.meta.dirname, 'microphone.js'), 'text/javascript'],
    '/client.js': [join(lorekeep, 'dist', 'src', 'client', 'browser.js'), 'text/javascript'],
  };
  if (url === '/settings.json') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(settings));
  } else if (Object.hasOwn(files, url)) {
    const [file, type] = files[url];
    response.setHeader('content-type', `${type}; charset=utf-8`);
    response.end(readFileSync(file));
  } else {
    response.writeHead(404).end();
  }
}

function writeJson(name, value) {
  writeFileSync(join(folder, name), JSON.stringify(value, undefined, 2));
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
