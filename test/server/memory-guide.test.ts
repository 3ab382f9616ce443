import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from './test-server.js';

const project = join(import.meta.dirname, '../..');
const file = temporaryFolder();
const hasModel = existsSync(join(project, 'data/models/all-MiniLM-L6-v2.gguf'));
if (!hasModel) console.log('left out: all-MiniLM-L6-v2 is not in data/models');

/** The code blocks of the guide in one language. */
const blocks = (language: string) =>
  [...readFileSync(join(project, 'docs/guides/memory.md'), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');

it.skipIf(!hasModel || process.platform === 'win32')(
  'the example of docs/guides/memory.md remembers across runs and restarts, as the page says',
  async () => {
    mkdirSync(file('node_modules'));
    symlinkSync(project, file('node_modules/lorekeep'), 'dir');
    const config = {
      models_catalog_path: join(project, 'data/models.json'),
      memories_dir: file('memories'),
      storage_root: file(),
    };
    const run = async () => {
      const server = await TestServer.start({ config });
      const code = (blocks('js')[0] as string).replace('connect()', `connect({ port: ${server.port} })`);
      writeFileSync(file('memory.mjs'), code);
      const { stdout } = await promisify(execFile)(process.execPath, ['memory.mjs'], { cwd: file() });
      await server.server.close();
      return stdout;
    };
    expect(await run()).toBe('remembered\n');
    expect(statSync(file('memory.secret')).mode & 0o777).toBe(0o600);
    expect(await run()).toBe(blocks('text')[0]);
    expect(await run()).toBe(blocks('text')[0]);
  },
);
