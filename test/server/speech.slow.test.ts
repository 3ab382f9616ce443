import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { ClientSession, SpeechEvent } from '../../src/client/index.js';
import { silentLog } from '../../src/log/log.js';
import { FakeRecogniser } from '../helpers/fake-recogniser.js';
import { temporaryFolder } from '../helpers/folder.js';
import type { RawClient } from './raw-client.js';
import { allEvents, audioBytes, s16, speechServer, spoken, wavSamples } from './speech-setting.js';
import type { TestServer } from './test-server.js';

const file = temporaryFolder();

/** The events without what their order does not depend on. */
const kinds = (events: readonly SpeechEvent[]) =>
  events.map((event) =>
    event.type === 'SpeechText' ? `${event.type} ${event.final ? 'final' : 'partial'}` : event.type,
  );

describe('a stream of audio', () => {
  it('tells where speech is and what it is, in order, with times', async () => {
    const recogniser = new FakeRecogniser(() => 'bees dance');
    const session = await (await speechServer({ loadRecogniser: recogniser.load })).session();
    const speech = await session.openSpeech({ words: true });
    const events = allEvents(speech);
    await speech.write(s16(spoken(1.5, 1)));
    await speech.finish();
    const heard = await events;
    expect(kinds(heard)).toEqual([
      ...['SpeechStarted', 'SpeechEnded', 'SpeechText final'],
      ...['SpeechStarted', 'SpeechEnded', 'SpeechText final', 'SpeechClosed'],
    ]);
    const [, ended, text, , second, , closed] = heard as Extract<
      SpeechEvent,
      { beginMs: number; endMs: number }
    >[];
    expect(Math.abs((ended?.beginMs ?? 0) - 1000)).toBeLessThan(200);
    expect(Math.abs((ended?.endMs ?? 0) - 2500)).toBeLessThan(250);
    expect(second?.beginMs).toBeGreaterThan(ended?.endMs ?? Number.POSITIVE_INFINITY);
    expect(text).toMatchObject({
      ...{ segment: 1, text: 'bees dance', language: 'en', beginMs: ended?.beginMs, endMs: ended?.endMs },
      words: [{ text: 'bees' }, { text: 'dance' }],
    });
    expect(closed).toMatchObject({ reason: 'finished', heardMs: 4500 + 1000 });
    // The recogniser got the audio of the segment, with some around it.
    const length =
      (recogniser.calls[0]?.samples.length ?? 0) / 16 - ((ended?.endMs ?? 0) - (ended?.beginMs ?? 0));
    expect(length).toBeGreaterThanOrEqual(0);
    expect(length).toBeLessThan(500);
  });

  it('is the same in every format, and however the audio is cut', async () => {
    const session = await (
      await speechServer({ loadRecogniser: new FakeRecogniser(() => 'yes').load })
    ).session();
    const samples = spoken(1.2);
    const run = async (
      fields: Parameters<ClientSession['openSpeech']>[0],
      pieces: (Int16Array | Float32Array)[],
    ) => {
      const speech = await session.openSpeech(fields);
      const events = allEvents(speech);
      for (const piece of pieces) await speech.write(piece);
      await speech.finish();
      return (await events).map((event) => ({ ...event, stream: 0 }));
    };
    const whole = await run({ format: 'f32' }, [samples]);
    const cut = Array.from({ length: 300 }, (_, i) => samples.slice(i * 333, (i + 1) * 333));
    expect(await run({ format: 'f32' }, cut)).toEqual(whole);
    const stereo = Float32Array.from({ length: 2 * samples.length }, (_, i) => samples[i >> 1] as number);
    expect(await run({ format: 'f32', channels: 2 }, [stereo])).toEqual(whole);
    expect(kinds((await run({}, [s16(samples)])) as SpeechEvent[])).toEqual(kinds(whole as SpeechEvent[]));
  });

  it('has text while somebody speaks', async () => {
    const recogniser = new FakeRecogniser(({ samples }) => `${samples.length}`);
    const session = await (await speechServer({ loadRecogniser: recogniser.load })).session();
    const speech = await session.openSpeech({ partial: true });
    const events = allEvents(speech);
    const audio = s16(spoken(2.5));
    for (let at = 0; at < audio.length; at += 320) await speech.write(audio.subarray(at, at + 320));
    await speech.finish();
    const texts = (await events).filter((event) => event.type === 'SpeechText');
    expect(texts.length).toBeGreaterThanOrEqual(2);
    expect(texts.map(({ final }) => final)).toEqual([...texts.slice(1).map(() => false), true]);
  });

  it('takes a file as fast as it is recognised, and answers pings meanwhile', async () => {
    let isReleased = false;
    const recogniser = new FakeRecogniser(() => (isReleased ? 'text' : undefined));
    const session = await (await speechServer({ loadRecogniser: recogniser.load })).session();
    const client = await session.use(undefined, async (channel) => channel);
    const speech = await session.openSpeech();
    const events = allEvents(speech);
    let isWritten = false;
    const writing = speech.write(s16(spoken(...Array.from({ length: 16 }, () => 1.2)))).then(() => {
      isWritten = true;
    });
    // Nothing is recognised: after 10 s of segments without text, and the credit, no more audio is taken.
    const first = await recogniser.call(0);
    for (let i = 0; i < 20; i++) await client.request('Ping', {});
    expect(isWritten).toBe(false);
    isReleased = true;
    first.say('text');
    await writing;
    await speech.finish();
    const heard = await events;
    const final = heard.filter((event) => event.type === 'SpeechText');
    expect(final.length).toBeGreaterThan(8);
    expect(final.length).toBe(heard.filter(({ type }) => type === 'SpeechEnded').length);
    expect(final.map(({ segment }) => segment)).toEqual(final.map((_, i) => i + 1));
  });

  it('in a better class does not wait for a text of the same client in the background, which may rest', async () => {
    const recogniser = new FakeRecogniser();
    const session = await (await speechServer({ loadRecogniser: recogniser.load })).session();
    const file = await session.openSpeech({ class: 'background' });
    const others = [await session.openSpeech(), await session.openSpeech({ class: 'background' })];
    await file.write(s16(spoken(1)));
    await recogniser.call(0);
    for (const speech of others) await speech.write(s16(spoken(1)));
    expect((await recogniser.call(1)).options.class).toBe('interactive_visible');
    // The other one in the background waits for the first.
    await others[0]?.close();
    expect(recogniser.calls).toHaveLength(2);
    recogniser.calls[0]?.say('text');
    expect((await recogniser.call(2)).options.class).toBe('background');
    recogniser.calls[2]?.say('text');
    await session.destroy();
  });

  it('ends with its session, and with CloseSpeechRequest', async () => {
    const recogniser = new FakeRecogniser();
    const server = await speechServer({ loadRecogniser: recogniser.load });
    const session = await server.session();
    const [one, other] = [await session.openSpeech(), await session.openSpeech()];
    const events = [allEvents(one), allEvents(other)];
    await one.write(s16(spoken(1)));
    const { options } = await recogniser.call(0);
    await one.close();
    expect(options.signal?.aborted).toBe(true);
    expect((await events[0])?.at(-1)).toMatchObject({ type: 'SpeechClosed', reason: 'closed' });
    await expect(one.write(new Int16Array(100))).rejects.toMatchObject({ code: 7001 });
    await session.destroy();
    expect((await events[1])?.at(-1)).toMatchObject({ reason: 'failed', error: { code: 2002 } });
    await vi.waitFor(() => expect(server.server.memory.status.by_kind.speech ?? 0).toBe(0));
  });

  it('is closed at once while a file is being written', async () => {
    const recogniser = new FakeRecogniser();
    const session = await (await speechServer({ loadRecogniser: recogniser.load })).session();
    const speech = await session.openSpeech();
    const events = allEvents(speech);
    // Nothing is recognised, so this waits.
    const writing = speech.write(s16(spoken(...Array.from({ length: 16 }, () => 1.2))));
    const refused = expect(writing).rejects.toMatchObject({ code: 7001 });
    await recogniser.call(0);
    await speech.close();
    await refused;
    expect((await events).at(-1)).toMatchObject({ type: 'SpeechClosed', reason: 'closed' });
  });

  it('takes the detector that the config names, with the settings of its catalog entry', async () => {
    const recogniser = new FakeRecogniser(() => 'yes');
    const server = await speechServer({
      loadRecogniser: recogniser.load,
      config: { default_vad_model: 'Patient VAD' },
    });
    const session = await server.session();
    const ends = async (fields: Parameters<ClientSession['openSpeech']>[0]) => {
      const speech = await session.openSpeech(fields);
      const events = allEvents(speech);
      await speech.write(s16(spoken(1, 1)));
      await speech.finish();
      return (await events).filter(({ type }) => type === 'SpeechEnded').length;
    };
    // Its entry takes pauses of a second for a part of speech.
    expect(await ends({})).toBe(1);
    expect(await ends({ vad: { minSilenceMs: 300 } })).toBe(2);
    expect(await ends({ vadModel: 'Silero VAD' })).toBe(2);
  });

  it('refuses models, languages and settings that it cannot serve', async () => {
    const session = await (await speechServer({ loadRecogniser: new FakeRecogniser().load })).session();
    for (const [fields, path] of [
      [{ model: 'Silero VAD' }, 'model'],
      [{ vadModel: 'absent' }, 'vad_model'],
      [{ language: 'xx' }, 'language'],
      [{ vad: { threshold: 0.3, endThreshold: 0.4 } }, 'vad.end_threshold'],
      [{ vad: { minSpeechMs: 5000, maxSegmentMs: 1000 } }, 'vad.min_speech_ms'],
      [{ rate: 1 }, 'rate'],
      [{ rate: 1e9 }, 'rate'],
    ] as const)
      await expect(session.openSpeech(fields)).rejects.toMatchObject({ code: 1004, details: { path } });
    await expect(session.openSpeech({ agentId: 's1.a9' })).rejects.toMatchObject({ code: 4007 });
  });
});

describe('a hostile client', () => {
  async function opened(fields: object = {}, server?: TestServer) {
    const used = server ?? (await speechServer({ loadRecogniser: new FakeRecogniser(() => 'x').load }));
    const raw = await used.raw();
    let id = 0;
    const ask = async (type: string, more: object = {}) =>
      (await raw.request<never>({ type, id: ++id, ...more })) as Record<string, never>;
    const { session_id } = await ask('CreateSessionRequest');
    const open = () => ask('OpenSpeechRequest', { session_id, ...fields });
    const { stream, credit_bytes } = await open();
    return {
      raw,
      ask,
      session_id,
      open,
      stream: stream as unknown as number,
      credit: credit_bytes as unknown as number,
      server: used,
    };
  }

  const closed = (raw: RawClient, stream: number) =>
    raw.next<never>((frame) => frame.type === 'SpeechClosed' && frame.stream === stream);

  it('hears what is wrong with its audio, and keeps its other streams', async () => {
    const { raw, ask, open, credit, server } = await opened();
    const faults: [string, (stream: number) => Buffer, RegExp][] = [
      [
        'a wrong sequence number',
        (n) => audioBytes(n, 1, Buffer.alloc(2)),
        /^sequence: 0 is expected, not 1$/,
      ],
      [
        'an odd number of bytes',
        (n) => audioBytes(n, 0, Buffer.alloc(3)),
        /^samples: a multiple of 2 is expected/,
      ],
      ['no samples', (n) => audioBytes(n, 0, Buffer.alloc(0)), /^samples: a multiple of 2/],
      [
        'more than its credit',
        (n) => audioBytes(n, 0, Buffer.alloc(credit + 2)),
        /^samples: a frame of \d+ bytes, and the credit is \d+ bytes; wait for/,
      ],
      [
        'half an hour',
        (n) => audioBytes(n, 0, Buffer.alloc(30 * 60 * 32_000)),
        /^samples: a frame of \d+ bytes, and the credit/,
      ],
    ];
    for (const [what, bytes, message] of faults) {
      const { stream } = (await open()) as unknown as { stream: number };
      raw.bytes(bytes(stream));
      expect(await closed(raw, stream), what).toMatchObject({
        reason: 'failed',
        error: { code: 7003, message: expect.stringMatching(message), details: { stream } },
      });
      // More audio for it is dropped.
      raw.bytes(audioBytes(stream, 0, Buffer.alloc(2)));
      expect(await ask('Ping'), what).toMatchObject({ type: 'Pong' });
    }
    raw.bytes(audioBytes(99, 0, Buffer.alloc(2)));
    const unknown = await raw.next((frame) => frame.type === 'Error');
    expect(unknown).toMatchObject({ code: 7003, reply_to: null, details: { stream: 99 } });
    raw.bytes(audioBytes(1, 0, Buffer.from(s16(spoken(1)).buffer).subarray(0, credit)));
    await raw.next((frame) => frame.type === 'SpeechStarted' && frame.stream === 1);
    expect(server.server.connections).toBe(1);
  });

  it('can open and drop a thousand streams', async () => {
    const { raw, ask, session_id, server } = await opened({ vad: { max_segment_ms: 1000 } });
    const other = await opened({}, server);
    const { stream } = other;
    for (let round = 0; round < 1000; round += 100) {
      const ids = Array.from({ length: 100 }, (_, i) => `open ${round + i}`);
      const more = { type: 'OpenSpeechRequest', session_id, vad: { max_segment_ms: 1000 } };
      raw.send(...ids.map((id) => ({ ...more, id })));
      for (const id of ids) {
        const answer = await raw.next((frame) => 'reply_to' in frame && frame.reply_to === id);
        const { stream: made } = answer as unknown as { stream: number };
        expect(made, JSON.stringify(answer)).toBeGreaterThan(1);
        raw.bytes(audioBytes(made, 0, Buffer.alloc(640)));
        raw.send({ type: 'CloseSpeechRequest', id: `close ${made}`, session_id, stream: made });
      }
    }
    await ask('DestroySessionRequest', { session_id });
    other.raw.bytes(audioBytes(stream, 0, Buffer.alloc(6400)));
    expect(await other.ask('Ping')).toMatchObject({ type: 'Pong' });
    await other.ask('FinishSpeechRequest', { session_id: other.session_id, stream });
    expect(await closed(other.raw, stream)).toMatchObject({ reason: 'finished', heard_ms: 200 });
    await vi.waitFor(() => expect(server.server.memory.status.by_kind.speech ?? 0).toBe(0));
  });

  it('has a limit of open streams, and its budget counts them', async () => {
    const { ask, session_id } = await opened();
    let answer: Record<string, unknown> = {};
    for (let i = 0; i < 300 && answer.code === undefined; i++)
      answer = await ask('OpenSpeechRequest', { session_id });
    expect([6001, 7002]).toContain(answer.code);
    const { client } = (await ask('StatusRequest')) as unknown as {
      client: { by_kind: Record<string, number> };
    };
    expect(client.by_kind.speech).toBeGreaterThan(1_000_000);
  });

  it('that reads no events is heard no further, and loses nothing; others go on', async () => {
    // Far more text than the buffers of a socket hold.
    const streams = 60;
    const long = 'word'.repeat(250_000); // one word: the fake makes its words in this process
    const recogniser = new FakeRecogniser(() => long);
    const server = await speechServer({ loadRecogniser: recogniser.load });
    const other = await opened({}, server);
    const { raw, open, session_id, credit } = await opened({}, server);
    const audio = Buffer.from(s16(spoken(0.8)).buffer).subarray(0, credit);
    const numbers: number[] = [];
    for (let i = 0; i < streams; i++) numbers.push(((await open()) as unknown as { stream: number }).stream);
    raw.socket.pause();
    for (const stream of numbers) {
      raw.bytes(audioBytes(stream, 0, audio));
      raw.send({ type: 'FinishSpeechRequest', id: `end ${stream}`, session_id, stream });
    }
    await vi.waitFor(() => expect(server.server.memory.status.by_kind.replies ?? 0).toBeGreaterThan(2 ** 20));
    other.raw.bytes(audioBytes(other.stream, 0, audio));
    await other.ask('FinishSpeechRequest', { session_id: other.session_id, stream: other.stream });
    await closed(other.raw, other.stream);
    expect(recogniser.calls.length).toBeLessThan(streams);
    raw.socket.resume();
    for (const stream of numbers)
      expect(await closed(raw, stream)).toMatchObject({ reason: 'finished', heard_ms: audio.length / 32 });
    const texts = raw.received.filter((frame) => frame.type === 'SpeechText');
    expect(texts.map(({ text }) => text.length)).toEqual(numbers.map(() => long.length));
  });
});

describe('dumps', () => {
  it('are one playable file per segment, which nobody else can read', async () => {
    const dir = file('dumps');
    mkdirSync(dir);
    writeFileSync(file('dumps/mine.txt'), 'left alone');
    const log = silentLog();
    const warn = vi.spyOn(log, 'warn');
    const server = await speechServer({
      log,
      config: { stt_debug_dump_dir: dir },
      loadRecogniser: new FakeRecogniser(() => 'x').load,
    });
    const session = await server.session();
    const speech = await session.openSpeech();
    const events = allEvents(speech);
    await speech.write(s16(spoken(1, 1)));
    await speech.finish();
    const ended = (await events).filter((event) => event.type === 'SpeechEnded');
    const names = await vi.waitFor(() => {
      const found = readdirSync(dir)
        .filter((name) => name.endsWith('.wav'))
        .sort();
      expect(found).toHaveLength(2);
      expect(statSync(`${dir}/${found[1]}`).size).toBeGreaterThan(44);
      return found;
    });
    for (const [i, name] of names.entries()) {
      expect(name).toMatch(new RegExp(`^speech-${session.id}-1-${i + 1}-\\d{8}T\\d{6}-\\d{3}Z\\.wav$`));
      expect(statSync(`${dir}/${name}`).mode & 0o777).toBe(0o600);
      const { rate, samples } = wavSamples(`${dir}/${name}`);
      expect(rate).toBe(16_000);
      const { beginMs = 0, endMs = 0 } = ended[i] ?? {};
      expect(samples.length).toBeGreaterThanOrEqual(Math.round(16 * (endMs - beginMs)));
      expect(samples.length).toBeLessThan(16 * (endMs - beginMs + 500));
      expect(Math.max(...samples)).toBeGreaterThan(1000);
    }
    const told = warn.mock.calls.filter(([, message]) => String(message).startsWith('stt_debug_dump_dir'));
    expect(told).toHaveLength(1);
  });
});
