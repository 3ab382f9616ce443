import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/client/index.js';
import { FakeRecogniser } from '../helpers/fake-recogniser.js';
import { allEvents, audioBytes, s16, speechCatalog, spoken } from '../server/speech-setting.js';
import { door } from './door-setting.js';
import { SocketClient } from './web-socket.js';

/** The header of a frame over TCP, which a WebSocket message does without. */
const headerBytes = 5;

const speechDoor = () =>
  door(
    {},
    {
      config: { models_catalog_path: speechCatalog() },
      loadRecogniser: new FakeRecogniser(() => 'bees dance').load,
    },
  );

it('binary messages are the audio of a stream, whose events come as text messages', async () => {
  const { port } = await speechDoor();
  const socket = await SocketClient.open(port);
  const { session_id } = await socket.begin();
  const { stream, credit_bytes } = await socket.request({ type: 'OpenSpeechRequest', id: 2, session_id });
  const audio = Buffer.from(s16(spoken(0.8)).buffer).subarray(0, credit_bytes);
  let sequence = 0;
  for (let at = 0; at < audio.length; at += 3200)
    socket.socket.send(audioBytes(stream, sequence++, audio.subarray(at, at + 3200)).subarray(headerBytes));
  expect(await socket.request({ type: 'Ping', id: 3 })).toMatchObject({ type: 'Pong' });
  await socket.request({ type: 'FinishSpeechRequest', id: 4, session_id, stream });
  await socket.next(({ type }) => type === 'SpeechClosed');
  const events = socket.frames.filter(({ type }) => type.startsWith('Speech') && type !== 'SpeechCredit');
  expect(events).toMatchObject([
    { type: 'SpeechStarted', stream, segment: 1 },
    { type: 'SpeechEnded', stream, segment: 1 },
    { type: 'SpeechText', stream, segment: 1, final: true, text: 'bees dance' },
    { type: 'SpeechClosed', stream, reason: 'finished', heard_ms: audio.length / 32 },
  ]);
});

it('a binary message that does not fit its stream closes it alone', async () => {
  const { port } = await speechDoor();
  const socket = await SocketClient.open(port);
  const { session_id } = await socket.begin();
  const { stream } = await socket.request({ type: 'OpenSpeechRequest', id: 2, session_id });
  socket.socket.send(audioBytes(stream, 0, Buffer.alloc(3)).subarray(headerBytes));
  expect(await socket.next(({ type }) => type === 'SpeechClosed')).toMatchObject({
    reason: 'failed',
    error: { code: 7003 },
  });
  expect(await socket.request({ type: 'Ping', id: 3 })).toMatchObject({ type: 'Pong' });
});

it('the client takes samples alone, not their bytes or a part of one', async () => {
  const { port } = await speechDoor();
  const client = await connect({ url: `ws://127.0.0.1:${port}/v1/socket` });
  onTestFinished(() => client.close());
  const speech = await (await client.createSession()).openSpeech({ channels: 2 });
  const events = allEvents(speech);
  await expect(speech.write(Buffer.alloc(4) as never)).rejects.toThrow(TypeError);
  await expect(speech.write(new Int16Array(3))).rejects.toThrow(RangeError);
  await speech.write(new Int16Array(32));
  await speech.finish();
  expect(await events).toMatchObject([{ type: 'SpeechClosed', reason: 'finished', heardMs: 1 }]);
});

it('the client streams a file that is longer than its credit over a WebSocket', async () => {
  const { port } = await speechDoor();
  const client = await connect({ url: `ws://127.0.0.1:${port}/v1/socket` });
  onTestFinished(() => client.close());
  const session = await client.createSession();
  const speech = await session.openSpeech();
  const events = allEvents(speech);
  await speech.write(s16(spoken(1, 1, 1)));
  await speech.finish();
  const heard = await events;
  const texts = heard.flatMap((event) => (event.type === 'SpeechText' ? [event.text] : []));
  expect(texts).toEqual(['bees dance', 'bees dance', 'bees dance']);
  expect(heard.at(-1)).toMatchObject({ type: 'SpeechClosed', reason: 'finished', heardMs: 7000 });
});
