import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ModelDownloads } from '../../src/models/downloads/model-downloads.js';
import { temporaryFolder } from '../helpers/folder.js';
import { repetitions } from '../helpers/repetitions.js';
import { pullInChild, pullKilledBefore } from './children.js';
import { FileServer } from './file-server.js';
import { never, start, sum } from './scene.js';

const inFolder = temporaryFolder();
const kills = repetitions('KILLS', 4, 24);

it(`after ${kills} kills at any moment the file is whole, and its bytes were not downloaded again and again`, async () => {
  const server = await FileServer.listen(randomBytes(3_000_000));
  const sha256 = createHash('sha256').update(server.content).digest('hex');
  const folder = inFolder('models');
  const step = Math.ceil(server.content.length / kills);
  // The server stops sending at a point, which is when the process is killed.
  let sent = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const until = Math.min(kill * step, server.content.length - 1);
    server.intercept = (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
      const piece = server.content.subarray(from, until);
      const total = server.content.length;
      response.writeHead(from > 0 ? 206 : 200, {
        'content-length': total - from,
        etag: server.etag,
        ...(from > 0 && { 'content-range': `bytes ${from}-${total - 1}/${total}` }),
      });
      response.write(piece);
      sent += piece.length;
      return true;
    };
    const child = pullInChild({ folder, url: `${server.url}/model.gguf`, sha256 });
    await child.reached(until);
    child.kill();
    await child.ended;
  }
  server.intercept = () => false;
  const last = pullInChild({ folder, url: `${server.url}/model.gguf`, sha256 });
  expect(await last.ended).toBe(0);
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.gguf'));
  expect(readFileSync(join(folder, file as string)).equals(server.content)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual([file, 'downloads.json'].sort());
  expect(sent).toBeLessThan(2 * server.content.length);
});

it('killed before any of its changes of the file system, the next download is whole, recorded, and alone in the folder; pruning finds what is left', async () => {
  const seen: string[] = [];
  for (let count = 1; ; count++) {
    const { server, folder, downloads, variant } = await start(100_000);
    const sha256 = sum(server.content);
    const change = await pullKilledBefore(count, { folder, url: variant.url, sha256 });
    if (change === undefined) break;
    seen.push(change);
    const place = `${change}, change ${count}`;
    const copy = inFolder(`killed-${count}`);
    if (existsSync(folder))
      execFileSync('cp', ['-a', folder, copy]); // a file with two names stays one
    else mkdirSync(copy);
    await new ModelDownloads(copy).prune([], never);
    expect(
      readdirSync(copy).filter((entry) => entry.includes('model.gguf')),
      place,
    ).toEqual([]);
    const path = await downloads.pull({ ...variant, sha256 }, { signal: never, environment: {} });
    const name = path.slice(folder.length + 1);
    expect(readFileSync(path).equals(server.content), place).toBe(true);
    expect(readdirSync(folder).sort(), place).toEqual([name, 'downloads.json'].sort());
    expect(JSON.parse(readFileSync(join(folder, 'downloads.json'), 'utf8')).downloads, place).toMatchObject({
      [name]: { sha256, size_bytes: 100_000, url: expect.not.stringContaining('secret') },
    });
  }
  expect(new Set(seen)).toEqual(
    new Set(['appendFile', 'link', 'open', 'rm', 'sync', 'truncate', 'writeFile']),
  );
});
