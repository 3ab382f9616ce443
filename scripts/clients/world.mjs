import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTinyModel } from '../../test/helpers/tiny-model/tiny-model.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const program = join(root, 'dist', 'src', 'cli', 'lorekeep.cjs');

/** The records of the storage `docs`. */
const texts = {
  bees: 'Honey bees dance in the hive to tell their sisters where flowers bloom.',
  telescope: 'Anna Holm services the telescope in Gozo every five weeks.',
  dough: 'A sourdough starter is flour and water in which wild yeast has settled.',
};

const fields = [
  { name: 'id', type: 'int', optional: true },
  { name: 'some_other_field', type: 'string', optional: true },
  { name: 'kind', type: 'string', optional: true },
  { name: 'session', type: 'string', optional: true },
  { name: 'position', type: 'int', optional: true },
  { name: 'message', type: 'string', optional: true, filterable: false },
];

/** A small language model: stories, no sense. */
const talker = ['SmolLM2-135M-Instruct.Q4_1.gguf', 'stories260K.gguf']
  .map((name) => join(process.env.LOREKEEP_MODELS ?? join(root, '../shared/models'), name))
  .find((path) => existsSync(path));

/** A server with its HTTP doors open, and what the tests of clients need to know about it. */
export class World {
  #folder = mkdtempSync(join(tmpdir(), 'lorekeep-clients-'));
  #server;
  /** Environment of the tests. */
  env;

  static async open() {
    const world = new World();
    await world.#open();
    return world;
  }

  async #open() {
    const folder = this.#folder;
    const words = [
      ...Object.values(texts),
      'who what when where why services dance bees session message foo bar baz',
    ];
    await createTinyModel({ texts: words, path: join(folder, 'tiny.gguf'), dimension: 256 });
    const models = [{ name: 'tiny', model_type: 'embedding', variants: [{ file: 'tiny.gguf' }] }];
    if (talker) models.push({ name: 'talker', model_type: 'llm', variants: [{ file: talker }] });
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ version: 1, models }));
    for (const [name, records] of [
      ['docs', Object.entries(texts).map(([id, text]) => ({ id, text, metadata: { kind: id } }))],
      ['memory', [{ id: 'seed', text: 'The first record.' }]],
      ['python', [{ id: 'seed', text: 'The first record.' }]],
    ]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'records.json'), JSON.stringify(records));
      const config = { version: 1, embedding_model: 'tiny', records_file: 'records.json', fields };
      writeFileSync(join(folder, name, 'kb.json'), JSON.stringify(config));
    }
    const storage = (name) => ({ config: join(folder, name, 'kb.json'), writable: true });
    const config = {
      port: 0,
      logs_dir: '',
      models_catalog_path: 'models.json',
      storage_writes: 'files',
      http: {
        enabled: true,
        port: 0,
        storages: { docs: storage('docs'), memory: storage('memory'), python: storage('python') },
      },
    };
    writeFileSync(join(folder, 'server.json'), JSON.stringify(config));
    const args = [program, 'serve', '--config', join(folder, 'server.json')];
    const env = { ...process.env, LOREKEEP_STATE: join(folder, 'state') };
    this.#server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await listening(this.#server);
    this.env = {
      ...env,
      LOREKEEP_URL: url,
      LOREKEEP_PROGRAM: program,
      LOREKEEP_PLACE: join(folder, 'docs', 'kb.json'),
      LOREKEEP_CATALOG: join(folder, 'models.json'),
      ...(talker && { LOREKEEP_CHAT_MODEL: 'talker' }),
    };
    if (!talker) console.log('left out: replies; LOREKEEP_MODELS names no folder with a language model');
  }

  async close() {
    if (this.#server?.exitCode === null) {
      const ended = new Promise((resolve) => this.#server.once('close', resolve));
      this.#server.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Resolves to the URL of the doors, which the server's log names. */
function listening(server) {
  return new Promise((resolve, reject) => {
    let printed = '';
    const lines = createInterface({ input: server.stdout });
    lines.on('line', (line) => {
      if (printed.length < 100_000) printed += `${line}\n`;
      if (!line.includes('"http: listening"')) return;
      const { msg, url } = JSON.parse(line);
      if (msg === 'http: listening') resolve(url.replace(/\/$/, ''));
    });
    server.once('close', () => reject(new Stop(`the server ended:\n${printed}`)));
  });
}
