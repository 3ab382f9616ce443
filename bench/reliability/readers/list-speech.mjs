// The readers of audio, of its segments and of the texts that are said: see list.mjs.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseAudioFrame } from '../../../dist/src/protocol/audio-frame.js';
import { AudioInput } from '../../../dist/src/speech/audio-input.js';
import { SpeechStream } from '../../../dist/src/speech/speech-stream.js';
import { isUnfinished } from '../../../dist/src/speech/unfinished-sentence.js';
import { decodeSamples, wavFormat } from '../../../dist/src/speech/wav.js';
import { odd, refused, words } from './parts.mjs';

const mib = 1024 * 1024;
const settings = { threshold: 0.5, endThreshold: 0.35, minSpeechMs: 100, minSilenceMs: 400, paddingMs: 100 };

const number = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('latin1');
};
const chunk = (name, content) => `${name}${number(content.length)}${content}`;
const pcm = chunk('fmt ', `\x01\0\x01\0${number(16_000)}${number(32_000)}\x02\0\x10\0`);

const frames = {
  name: 'frames of audio, with ends of utterances',
  limit: 131_072,
  tokens: ['a', 'aa', '|', '!', '.', '\0', '\xff', 'a|', 'aaaaaaaaaaaaaaaa'],
  seeds: [{ unit: 'aa|' }, { unit: 'aa!' }, { unit: 'aa|!' }, { unit: 'a' }],
  /** `|` ends a frame, `!` an utterance, and `.` has audio heard. */
  read: async (text) => {
    const input = new AudioInput('s16');
    const head = Buffer.from('000000010000000100000000', 'hex');
    let taken = 0;
    for (const part of text.split(/(?<=[|!.])/)) {
      if (++taken % 64 === 0) await nextTurn();
      const bytes = Buffer.from(part.slice(0, part.length & ~1), 'latin1');
      input.append(parseAudioFrame(Buffer.concat([head, bytes])).samples);
      // The server ends a stream with more of them.
      if (part.endsWith('!') && input.marks < 1000) input.mark(async () => {});
      if (part.endsWith('.') && (!input.isEmpty || input.marks > 0)) await input.next(1600);
    }
    for (let heard = 0; !input.isEmpty || input.marks > 0; heard++) {
      if (heard % 64 === 0) await nextTurn();
      await input.next(1600);
    }
  },
};

/** A detector's windows of 32 ms: `s` is speech, `-` silence and `~` neither; `(` begins a segment, and `)` ends it. */
const segments = {
  name: 'segments of speech',
  limit: 65_536,
  tokens: [...words('s - ~ ( ) ss -- (s) (s-)'), 's-s-', '((', '))'],
  seeds: [{ unit: '(s)' }, { unit: '(s-)' }, { head: '(', unit: 's-', tail: ')' }],
  read: async (text) => {
    const windows = [...text];
    let [at, begun] = [0, undefined];
    const event = (kind, beginMs) => ({
      ...{ kind, beginMs, audioBeginMs: beginMs, probability: 0.9, cut: false },
      ...(kind === 'ended' && { endMs: at * 32, audioEndMs: at * 32 }),
    });
    const voice = {
      async push() {
        const events = [];
        const probabilities = [];
        for (const window of windows.splice(0, 32)) {
          if (window === '(' && begun === undefined) {
            begun = at * 32;
            events.push(event('started', begun));
          }
          if (window === ')' && begun !== undefined) {
            events.push(event('ended', begun));
            begun = undefined;
          }
          probabilities.push({ s: 0.9, '-': 0.1, '~': 0.4 }[window] ?? 0.5);
          at++;
        }
        return {
          events,
          probabilities: Float32Array.from(probabilities),
          samples: new Float32Array(probabilities.length * 512),
        };
      },
      finish: async () => ({ events: [], probabilities: new Float32Array(0), samples: new Float32Array(0) }),
      close: async () => {},
    };
    const stream = new SpeechStream({
      ...{
        voice: () => voice,
        settings,
        partial: true,
        tell: () => {},
        signal: new AbortController().signal,
      },
      recognise: async () => ({ text: 'a', language: 'en', probability: 1, words: [] }),
      failed: (error) => {
        throw error;
      },
    });
    for (let heard = 0; windows.length > 0; heard++) {
      if (heard % 8 === 0) await nextTurn();
      // A segment of a detector has 30 s at most.
      if (begun !== undefined && at * 32 - begun > 29_000) windows.unshift(')');
      await stream.hear(new Float32Array(0));
    }
    await stream.close();
  },
};

const texts = {
  name: 'texts that were said',
  limit: 65_536,
  tokens: [...words('a the um . ... ? ! 。 " \' ” ) ] , - é'), ' ', '\n', "'", '’', ...odd],
  seeds: [
    { head: '', unit: "'", tail: ' a.' },
    { unit: '."' },
    { unit: "a'" },
    { unit: 'a.' },
    { unit: ' ', tail: '.' },
  ],
  read: async (text) => {
    for (const language of ['en', 'xx']) isUnfinished(text, language);
  },
};

const wavs = (folder) => ({
  name: 'files of audio',
  limit: 4 * mib,
  ownThread: true,
  tokens: [
    pcm,
    chunk('LIST', 'ab'),
    chunk('data', ''),
    chunk('data', 'abcd'),
    chunk('junk', ''),
    'data',
    number(0xffffffff),
    '\0',
    '\xff',
  ],
  seeds: [
    { unit: chunk('LIST', '') },
    { unit: pcm },
    { head: `${pcm}data${number(0xffffffff)}`, unit: 'ab' },
  ],
  read: async (text) => {
    const path = join(folder, 'a.wav');
    const writer = createWriteStream(path);
    writer.end(Buffer.from(`RIFF${number(0)}WAVE${text}`, 'latin1'));
    await once(writer, 'close');
    const file = await open(path);
    await refused(async () => {
      const { size } = await file.stat();
      const format = await wavFormat(file, size);
      const piece = Buffer.alloc(65_536);
      for (let at = 0; at < format.bytes; at += piece.length) {
        await file.read(piece, 0, piece.length, format.begin + at);
        decodeSamples(piece, format);
      }
    });
    await file.close();
  },
});

export const speech = (folder) => [frames, segments, texts, wavs(folder)];
