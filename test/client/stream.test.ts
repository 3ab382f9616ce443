import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/client/index.js';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import { corpus } from '../server/corpus.js';
import { retrieveGraph, TestServer } from '../server/test-server.js';

const strings = corpus.map(({ text }) => text);

async function agentOf(server: TestServer) {
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  return session.createAgent({ graph: retrieveGraph() });
}

/** A server that answers each request with frames of the test's choice. */
async function scripted(answer: (request: Record<string, unknown>) => object[]) {
  const asked: string[] = [];
  const listener = createServer((socket) => {
    const send = (frame: object) => socket.write(encodeFrame(frame, 1e6));
    const decoder = new FrameDecoder(1e6);
    send({ type: 'Hello', protocol: 1, server: 'lorekeep', version: '0' });
    socket.on('data', (chunk) => {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
        const request = JSON.parse(frame.payload.toString('utf8'));
        asked.push(request.type);
        for (const reply of answer(request)) send(reply);
      }
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const client = await connect({ port: (listener.address() as { port: number }).port });
  onTestFinished(async () => {
    await client.close();
    listener.close();
  });
  const session = await client.createSession();
  const agent = await session.createAgent({ graph: retrieveGraph() });
  return { agent, asked, client };
}

const turn_id = 't1';
const complete = { type: 'TurnComplete', turn_id, status: 'completed', text: 'Hello you' };

function greeting({ type, id }: Record<string, unknown>): object[] {
  if (type === 'CreateSessionRequest')
    return [{ type: 'CreateSessionResponse', reply_to: id, session_id: 's' }];
  if (type === 'CreateAgentRequest') return [{ type: 'CreateAgentResponse', reply_to: id, agent_id: 'a' }];
  if (type !== 'TurnRequest') return [{ type: 'Ack', reply_to: id }];
  return [
    { type: 'TurnStarted', reply_to: id, turn_id },
    { type: 'TurnText', turn_id, text: 'Hello ' },
    { type: 'TurnText', turn_id: 'of somebody else', text: '!' },
    { type: 'TurnText', turn_id, text: 'you' },
    complete,
  ];
}

describe('a turn as an iterable', () => {
  it('yields its start, the pieces of its reply and its end', async () => {
    const { agent } = await scripted(greeting);
    const heard = [];
    for await (const event of agent.stream('hello')) heard.push(event);
    expect(heard).toMatchObject([
      { type: 'TurnStarted', turnId: turn_id },
      { type: 'TurnText', text: 'Hello ' },
      { type: 'TurnText', text: 'you' },
      { type: 'TurnComplete', turnId: turn_id, status: 'completed', text: 'Hello you' },
    ]);
  });

  it('of the real server ends with TurnComplete', async () => {
    const agent = await agentOf(await TestServer.start());
    const types = [];
    for await (const { type } of agent.stream(corpus[0].question)) types.push(type);
    expect(types).toEqual(['TurnStarted', 'TurnComplete']);
  });

  it('cancels the turn when its loop is left early', async () => {
    const unfinished = (request: Record<string, unknown>) =>
      greeting(request).filter((frame) => frame !== complete);
    const { agent, asked } = await scripted(unfinished);
    for await (const event of agent.stream('hello')) {
      if (event.type === 'TurnText') break;
    }
    // Requests keep their order: what was asked before this one's answer is in the list.
    await agent.destroy();
    expect(asked.slice(-3)).toEqual(['TurnRequest', 'CancelTurnRequest', 'DestroyAgentRequest']);
  });

  it('throws the reason of an abort, and what the server refuses', async () => {
    const agent = await agentOf(await TestServer.start());
    const abort = new AbortController();
    const left = async () => {
      for await (const _ of agent.stream(corpus[0].question, { signal: abort.signal }))
        abort.abort(new Error('enough'));
    };
    await expect(left()).rejects.toThrow('enough');
    await agent.destroy();
    const refused = async () => {
      for await (const _ of agent.stream('hello')) expect.fail('nothing is to be heard');
    };
    await expect(refused()).rejects.toMatchObject({ code: 4007 });
  });
});

describe('a client', () => {
  it('loses one request, not its connection, to what the server cannot read', async () => {
    const agent = await agentOf(await TestServer.start());
    let deep: unknown = {};
    for (let depth = 0; depth < 100; depth++) deep = [deep];
    await expect(agent.turn('bees', { variables: { deep } })).rejects.toMatchObject({ code: 1001 });
    expect((await agent.turn('bees')).status).toBe('completed');
  });

  it('leaves nothing on a signal that many turns share', async () => {
    const agent = await agentOf(await TestServer.start());
    const { signal } = new AbortController();
    for (let turn = 0; turn < 5; turn++) {
      await agent.turn('bees', { signal });
      for await (const _ of agent.stream('bees', { signal }));
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('takes any number of turns with one signal without a warning', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const agent = await agentOf(await TestServer.start());
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, () => agent.turn('bees', { signal })));
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  });

  it('is given up by the signal of connect() until it is there, and not any more', async () => {
    const { port } = await TestServer.start();
    const controller = new AbortController();
    const { signal } = controller;
    const client = await connect({ port, signal });
    onTestFinished(() => client.close());
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    controller.abort(new Error('enough'));
    await client.ping();
    await expect(connect({ port, signal })).rejects.toThrow('enough');
    const late = new AbortController();
    const connecting = connect({ port, signal: late.signal });
    late.abort(new Error('too late'));
    await expect(connecting).rejects.toThrow('too late');
  });

  it('gives up a connection whose server says of no request what is wrong', async () => {
    const answer = (request: Record<string, unknown>) =>
      request.type === 'TurnRequest'
        ? [{ type: 'Error', reply_to: null, code: 1001, name: 'MalformedFrame', message: 'x', details: {} }]
        : greeting(request);
    const { agent, client } = await scripted(answer);
    await expect(agent.turn('hi')).rejects.toMatchObject({ name: 'ConnectionLostError' });
    await client.closed;
  });
});
