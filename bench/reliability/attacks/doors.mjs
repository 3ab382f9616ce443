// Attacks on the doors over HTTP; memory.mjs says what an attack is. `door: true`: the server has its HTTP doors open, with the
// writable storage `own`, and the lanes get `door`, the port. `found(text)` tells a wrong answer, which is a problem of the server.
import { randomBytes } from 'node:crypto';
import { host, json, posted, Wire, webSocket, webSocketFrame } from './wire.mjs';

const search = JSON.stringify({ text: 'bee', name: 'own' });
/** Requests that two servers could read as different ones: each must be refused, and none may have a second answer. */
const inner = `GET /v1/storages HTTP/1.1\r\n${host}\r\n`;
const smuggled = [
  `POST /v1/search HTTP/1.1\r\n${host}${json}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}content-length: 4\r\ncontent-length: 40\r\n\r\nabcd${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}content-length: 4, 4\r\n\r\nabcd${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}content-length: +4\r\n\r\nabcd${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}x: a\r\n content-length: 4\r\n\r\n${inner}`,
  `GET /v1/storages HTTP/1.1\n${host.replace('\r', '')}\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: chunked\r\n\r\n4;x\nabcd\r\n0\r\n\r\n${inner}`,
  `POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n${inner}`,
  `GET /v1/storages HTTP/1.1\r\n${host}x: a\0b\r\n\r\n${inner}`,
];

const rebound = [
  'evil.example',
  'evil.example:9103',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '[::1].evil.example',
  '127.0.0.1@evil.example',
  '',
];

const slowly = (name, lanes, begin, byte) => ({
  name,
  lanes,
  door: true,
  async lane({ door, alive, pause }) {
    const wire = await Wire.open(door);
    await wire.send(begin);
    while (alive() && !wire.closed) {
      await wire.send(byte);
      await pause(20);
    }
  },
});

/** Sends a request on a connection of its own, and tells an answer with another status. */
const refused = (name, lanes, requests, isRight) => ({
  name,
  lanes,
  door: true,
  async lane(tools) {
    for (let at = tools.lane; tools.alive(); at++) {
      const request = requests[at % requests.length];
      const wire = await Wire.open(tools.door);
      await wire.send(request);
      const status = await wire.head(tools);
      // The server may be full: no answer, or 503.
      if (!Number.isNaN(status) && status !== 503 && !isRight(status))
        tools.found(`${JSON.stringify(request.slice(0, 120))} was answered with ${status}`);
      await Promise.race([wire.gone, tools.pause(20)]);
      if ((wire.answer.match(/^HTTP\/1\.1 \d{3} /gm) ?? []).length > 1)
        tools.found(`${JSON.stringify(request.slice(0, 120))} has two answers`);
      wire.end();
    }
  },
});

export const doorAttacks = [
  slowly(
    'HTTP headers, a byte at a time, 200 connections',
    200,
    `GET /v1/storages HTTP/1.1\r\n${host}x: `,
    'a',
  ),
  slowly(
    'HTTP bodies, a byte at a time, 200 connections',
    200,
    `POST /v1/search HTTP/1.1\r\n${host}${json}content-length: 60000000\r\n\r\n{"text":"`,
    'a',
  ),
  {
    name: '1,000 HTTP connections that say nothing',
    lanes: 1000,
    door: true,
    async lane({ door, alive, pause }) {
      const wire = await Wire.open(door);
      while (alive() && !wire.closed) await pause(200);
    },
  },
  refused(
    'HTTP requests that two servers would read differently, 8 clients',
    8,
    smuggled,
    (status) => status >= 400,
  ),
  refused(
    'HTTP requests under names of other servers, 8 clients',
    8,
    rebound.map(
      (name) =>
        `POST /v1/search HTTP/1.1\r\nhost: ${name}\r\n${json}content-length: ${search.length}\r\n\r\n${search}`,
    ),
    (status) => status === 403 || status === 400,
  ),
  refused(
    'HTTP headers of 1 MiB, 16 clients',
    16,
    [
      `GET /v1/storages HTTP/1.1\r\n${host}x: ${'a'.repeat(1024 * 1024)}\r\n\r\n`,
      `GET /v1/storages HTTP/1.1\r\n${host}${'x: y\r\n'.repeat(100_000)}\r\n`,
    ],
    (status) => status === 431,
  ),
  {
    name: 'WebSocket messages in fragments of a byte, and pings between, 50 clients',
    lanes: 50,
    door: true,
    async lane(tools) {
      const wire = await webSocket(tools);
      await wire.send(webSocketFrame(1, Buffer.from('{'), false));
      while (tools.alive() && !wire.closed) {
        const pieces = [webSocketFrame(0, Buffer.from(' '), false), webSocketFrame(9, randomBytes(125))];
        await wire.send(Buffer.concat(Array.from({ length: 64 }, () => pieces).flat()));
        await tools.pause(1);
      }
    },
  },
  {
    name: 'MCP requests begun and dropped, 32 clients',
    lanes: 32,
    door: true,
    async lane({ door, alive, pause, word }) {
      const accept = 'accept: application/json, text/event-stream\r\n';
      const clientInfo = { name: 'x', version: '1' };
      for (let id = 0; alive(); id++) {
        const wire = await Wire.open(door);
        const [method, params] = [
          ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }],
          ['tools/list', {}],
          ['tools/call', { name: 'search', arguments: { query: word() } }],
          ['tools/call', { name: 'ask', arguments: { question: word() } }],
        ][id % 4];
        await wire.send(posted('/mcp', JSON.stringify({ jsonrpc: '2.0', id, method, params }), accept));
        await pause(id % 7);
        wire.end();
      }
    },
  },
  {
    name: 'records written and forgotten without a pause, 8 clients',
    lanes: 8,
    door: true,
    async lane(tools) {
      const { alive, word, lane } = tools;
      for (let n = 0; alive(); n++) {
        const wire = await Wire.open(tools.door);
        const id = `r${lane}-${n % 50}`;
        const records = '/v1/storages/own/records';
        const [path, body] =
          n % 10 === 9
            ? [`${records}/forget`, { ids: [`r${lane}-${(n - 1) % 50}`] }]
            : [records, { add: [{ id, text: `${word()} ${word()}` }], upsert: true }];
        await wire.send(posted(path, JSON.stringify(body)));
        const status = await wire.head(tools);
        if (!Number.isNaN(status) && ![200, 404, 429, 503].includes(status))
          tools.found(`${path} was answered with ${status}`);
        wire.end();
      }
    },
  },
];
