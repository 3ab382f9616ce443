import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from './program.js';
import { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();

it.skipIf(process.platform === 'win32')(
  'SIGHUP and SIGUSR1 are logged and change nothing: no end, no debugger',
  async () => {
    await TestServer.start();
    const config = { port: 0, models_catalog_path: catalogPath, logs_dir: '' };
    writeFileSync(inFolder('server-config.json'), JSON.stringify(config));
    const args = ['dist/src/cli/main.js', 'serve', '--config', inFolder('server-config.json')] as const;
    const program = Program.run(...args);
    const port = Number((await program.printed(/"port":(\d+)/))[1]);
    for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGHUP'] as const) {
      program.child.kill(signal);
      await program.printed(new RegExp(`"signal":"${signal}","msg":"${signal} has no effect`));
    }
    const raw = await RawClient.connect(port);
    expect(await raw.request({ type: 'Ping', id: 1 })).toMatchObject({ type: 'Pong' });
    expect(program.stderr).not.toContain('Debugger');
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.stderr).not.toContain('Debugger');
  },
);
