import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpeechEvent } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { silero, syllables } from '../helpers/speech-models.js';
import { catalogPath, TestServer, type TestServerOptions } from './test-server.js';

const file = temporaryFolder();

/** A server whose catalog has Silero VAD, a recogniser, and the language model "talker". */
export async function speechServer(options: TestServerOptions, recogniser?: string): Promise<TestServer> {
  const { config, ...rest } = options;
  return TestServer.start({
    config: { models_catalog_path: speechCatalog(recogniser), ...config },
    ...rest,
  });
}

/** Writes the catalog of such a server, and returns its path. `recogniser`: its file, unless the test brings its own. */
export function speechCatalog(recogniser: string = silero): string {
  const path = file('speech-models.json');
  const tiny = join(dirname(catalogPath), 'tiny.gguf');
  // The first server makes the files of the usual catalog.
  const model = (name: string, model_type: string, of: string) => ({
    name,
    model_type,
    variants: [{ file: of }],
  });
  const models = [
    model('Silero VAD', 'vad', silero),
    { ...model('Patient VAD', 'vad', silero), vad: { min_silence_ms: 3000 } },
    model('hearer', 'stt', recogniser),
    model('tiny', 'embedding', tiny),
    model('talker', 'llm', tiny),
  ];
  writeFileSync(path, JSON.stringify({ version: 1, models }));
  return path;
}

/** Pieces of a voice, each with its seconds, and of silence between. */
export function spoken(...seconds: number[]): Float32Array {
  const pause = 1;
  const rate = 16_000;
  const total = seconds.reduce((sum, each) => sum + each + pause, pause);
  const samples = new Float32Array(Math.ceil(total * rate));
  let at = pause;
  for (const each of seconds) {
    samples.set(syllables(each), Math.round(at * rate));
    at += each + pause;
  }
  return samples;
}

/** Samples of 16 bits. */
export const s16 = (samples: Float32Array): Int16Array =>
  Int16Array.from(samples, (sample) => Math.round(sample * 32_767));

/** A binary frame of audio. */
export function audioBytes(stream: number, sequence: number, samples: Buffer): Buffer {
  const head = Buffer.alloc(17);
  head.writeUInt8(2);
  head.writeUInt32BE(12 + samples.length, 1);
  head.writeUInt32BE(1, 5);
  head.writeUInt32BE(stream, 9);
  head.writeUInt32BE(sequence, 13);
  return Buffer.concat([head, samples]);
}

/** The events of a stream until it and its turns have ended. */
export async function allEvents(events: AsyncIterable<SpeechEvent>): Promise<SpeechEvent[]> {
  const all: SpeechEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The samples of a WAV file that this project wrote. */
export function wavSamples(path: string): { rate: number; samples: Int16Array } {
  const bytes = readFileSync(path);
  const body = bytes.subarray(44);
  return {
    rate: bytes.readUInt32LE(24),
    samples: Int16Array.from({ length: body.length / 2 }, (_, i) => body.readInt16LE(2 * i)),
  };
}
