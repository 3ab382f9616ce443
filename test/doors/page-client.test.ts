import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allShapes } from '../../src/client/shapes.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { browserPath, launch } from '../monitor/browser.js';
import { corpus } from '../server/corpus.js';
import { type Door, door } from './door-setting.js';
import { keysFile, secret } from './web-socket.js';

const bundle = readFileSync(join(import.meta.dirname, '../../dist/src/client/browser.js'), 'utf8');

it('the client for browsers is as small as the guide says, needs nothing, and knows the names of all fields', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/websocket.md'), 'utf8');
  const [, whole, compressed] = /(\d+) KB \(([\d.]+) KB compressed\)/.exec(guide) ?? [];
  expect(Math.abs(bundle.length / 1000 - Number(whole))).toBeLessThan(1);
  expect(Math.abs(gzipSync(bundle).length / 1000 - Number(compressed))).toBeLessThan(0.3);
  expect(/\bimport\s*[({"']|from\s*["']|["']node:|Buffer/.exec(bundle)?.[0]).toBeUndefined();
  const { requests, frames } = allShapes();
  for (const name of [...Object.keys(requests), ...Object.keys(frames)]) expect(bundle).toContain(name);
});

if (browserPath === undefined)
  console.log('left out: the client in a browser; the Debian package chromium is not installed');

/** A page of another origin, with the client as its global `lorekeep`, and a door that lists the origin. */
async function page(keys?: string): Promise<{ page: Page; opened: Door; url: string }> {
  const script = `${bundle};`;
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    const html =
      '<script type="module">import * as lorekeep from "/client.js"; globalThis.lorekeep = lorekeep;</script>';
    response.end(isScript ? script : html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = { cors_origins: [origin], ...(keys !== undefined && { keys_file: keys }) };
  const opened = await door(http, { loadLanguageModel: async () => new FakeTextModel({}) });
  const browser = await launch();
  onTestFinished(async () => {
    await browser.close();
    server.close();
    server.closeAllConnections();
  });
  const made = await browser.newPage();
  await made.goto(`${origin}/`);
  await made.waitForFunction('globalThis.lorekeep !== undefined');
  return { page: made, opened, url: `ws://127.0.0.1:${opened.port}/v1/socket` };
}

describe.skipIf(browserPath === undefined)('the client in a browser', () => {
  it('searches, replies in pieces, and tells errors by their codes', async () => {
    const { page: shown, url } = await page();
    const { question } = corpus[3] as (typeof corpus)[number];
    const seen = await shown.evaluate(`(async () => {
      const client = await lorekeep.connect({ url: ${JSON.stringify(url)} });
      const session = await client.createSession();
      const found = await session.search({ name: 'docs', text: ${JSON.stringify(question)}, topK: 1 });
      const graph = { nodes: [{ id: 'a', type: 'generate', params: { model: 'talker', maxTokens: 8 } }] };
      const agent = await session.createAgent({ graph });
      const pieces = [];
      for await (const event of agent.stream('Hello')) pieces.push(event.type);
      const refused = await session.search({ name: 'dacs', text: 'x' }).catch((error) => error);
      const same = refused instanceof lorekeep.ServerError;
      const stop = new AbortController();
      const cancelled = await (async () => {
        for await (const _ of agent.stream('Again', { signal: stop.signal })) stop.abort();
      })().catch((error) => error.name);
      const after = (await agent.turn('Still there?')).status;
      await client.close();
      const again = await lorekeep.connect({ url: ${JSON.stringify(url)} });
      const anew = (await (await again.createSession()).search({ name: 'docs', text: 'bees', topK: 1 })).hits.length;
      await again.close();
      const late = await client.createSession().catch((error) => error.name);
      return { hit: found.hits[0], pieces, code: refused.code, same, late, cancelled, after, anew };
    })()`);
    expect(seen).toMatchObject({ hit: { id: 'r3', metadata: { n: 3 } }, code: 8005, same: true });
    expect(seen).toMatchObject({ cancelled: 'AbortError', after: 'completed', anew: 1 });
    const { pieces, late } = seen as { pieces: string[]; late: string };
    expect([pieces[0], pieces.at(-1), late]).toEqual(['TurnStarted', 'TurnComplete', 'ConnectionLostError']);
    expect(pieces).toContain('TurnText');
  });

  it('sends its key in the first message, and finds out what a page cannot do', async () => {
    const { page: shown, url } = await page(keysFile({ one: ['search'] }));
    const seen = await shown.evaluate(`(async () => {
      const url = ${JSON.stringify(url)};
      const without = await (await lorekeep.connect({ url })).createSession().catch((error) => error.code);
      const client = await lorekeep.connect({ url, accessToken: ${JSON.stringify(secret('one'))} });
      const session = await client.createSession();
      const { hits } = await session.search({ name: 'docs', text: 'bees' });
      const port = await lorekeep.connect({ port: 9100 }).catch((error) => error.message);
      const nobody = await lorekeep.connect({ url: 'ws://127.0.0.1:9/' }).catch((error) => error.name);
      return { without, hits: hits.length, port, nobody };
    })()`);
    expect(seen).toEqual({
      without: 2010,
      hits: expect.any(Number),
      port: expect.stringContaining('give `url`'),
      nobody: 'ConnectionLostError',
    });
  });
});
