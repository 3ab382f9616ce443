import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { pullInChild } from './children.js';
import { FileServer } from './file-server.js';

const inFolder = temporaryFolder();
/** More on request: LOREKEEP_TEST_KILLS=200. */
const kills = Number(process.env.LOREKEEP_TEST_KILLS ?? 12);

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
