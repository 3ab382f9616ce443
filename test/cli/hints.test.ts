import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { FileServer } from '../downloads/file-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { program, shell } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const folder = "Größe's $HOME notes";
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  mkdirSync(inFolder(folder));
  writeFileSync(inFolder(folder, 'prices.md'), '# Prices\n\nA ticket for the ferry costs $5 on Tuesdays.\n');
  const bin = inFolder('bin', 'lorekeep');
  mkdirSync(dirname(bin));
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(bin, 0o755);
  env = { LOREKEEP_STATE: inFolder('state'), PATH: `${dirname(bin)}${delimiter}${process.env.PATH}` };
});

/** Runs the command at the end of the message, as if pasted into a shell. */
async function paste(message: string) {
  const [command = ''] = /lorekeep (?:build|index|search|check|models) .*/.exec(message) ?? [];
  return shell(command, { env, cwd: inFolder('.') });
}

it.skipIf(process.platform === 'win32')(
  'prints commands that a shell takes, whatever the names',
  async () => {
    const cwd = inFolder('.');
    const unindexed = await lorekeep(['search', folder, 'x'], { env, cwd });
    expect(unindexed.status).toBe(1);
    // A slow machine prints progress on stderr.
    expect((await paste(unindexed.stderr)).status).toBe(0);

    const split = await lorekeep(['search', folder, 'costs', '$5', '"now"?'], { env, cwd });
    expect(split.status).toBe(2);
    const pasted = await paste(split.stderr);
    expect(pasted.status).toBe(0);
    expect(pasted.stdout).toContain('prices.md');
  },
);

it.skipIf(process.platform === 'win32')('names npx where npx started it', async () => {
  const bin = inFolder('npx', 'lorekeep');
  mkdirSync(dirname(bin));
  symlinkSync(join(dirname(program), 'lorekeep.cjs'), bin);
  const byNpx = { ...env, npm_command: 'exec' };
  const failed = await shell(`"${process.execPath}" "${bin}" search . text`, {
    env: byNpx,
    cwd: inFolder('npx'),
  });
  expect(failed.stderr).toContain('run: npx lorekeep index .');
  const flag = await shell(`"${process.execPath}" "${bin}" search --limit`, { env: byNpx });
  expect(flag.stderr).toContain('lorekeep search --help lists the flags');
});

it.skipIf(process.platform === 'win32')(
  'prints the command that downloads a model, in any folder and whatever the names',
  async () => {
    const place = inFolder(folder, 'server');
    const model = inFolder('far.gguf');
    const strings = ['bees make honey', 'ice melts'];
    await createTinyModel({ texts: strings, path: model, dimension: 64, contextSize: 64 });
    const server = await FileServer.listen(readFileSync(model));
    const name = 'größe "$1" model';
    const variants = [{ url: `${server.url}/far.gguf`, context_size: 64 }];
    mkdirSync(place);
    const write = (file: string, value: object) => writeFileSync(join(place, file), JSON.stringify(value));
    write('models.json', { version: 1, models: [{ name, model_type: 'embedding', variants }] });
    write('server-config.json', { models_catalog_path: 'models.json', models_download_dir: 'here' });
    write(
      'records.json',
      strings.map((text, id) => ({ id: String(id), text })),
    );
    write('kb.json', { embedding_model: name, records_file: 'records.json' });
    const cwd = inFolder('.');
    const config = ['--config', join(place, 'server-config.json')];
    const search = () => lorekeep(['search', join(place, 'kb.json'), 'honey', ...config], { env, cwd });
    const refused = await search();
    expect(refused.stderr).toContain('has not been downloaded');
    expect((await lorekeep(['doctor', ...config], { env, cwd })).stdout).toContain('lorekeep models pull');
    expect(await paste(refused.stderr)).toMatchObject({ status: 0 });
    expect(await search()).toMatchObject({ status: 0, stdout: expect.stringContaining('[honey]') });

    // Only the catalog of this config has the model.
    write('built.json', { embedding_model: name, records_file: 'records.json', index_file: 'kb.index' });
    const ask = (command: string, more: string) =>
      lorekeep([command, join(place, 'built.json'), more, ...config], { env, cwd });
    const questions = join(place, 'questions.jsonl');
    writeFileSync(questions, '{"question": "honey", "relevant": ["0"]}\n');
    const unbuilt = [await ask('search', 'honey'), await ask('eval', questions)];
    for (const { stderr } of unbuilt) expect(stderr).toContain(`built.json' --config '`);
    expect(await paste(unbuilt[0]?.stderr ?? '')).toMatchObject({ status: 0 });
    expect(await ask('search', 'honey')).toMatchObject({ status: 0 });

    const present = await lorekeep(['models', 'pull', 'lorekeep-mini'], { env, cwd });
    expect(present).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/needs no download: its file is/),
    });
    for (const known of ['Qwen3-0.6B', 'bge-small-en-v1.5']) {
      const elsewhere = await lorekeep(['models', 'pull', known], { env, cwd });
      expect(elsewhere.stderr).toContain('; the catalog of a folder made by lorekeep init says where');
    }
  },
);
