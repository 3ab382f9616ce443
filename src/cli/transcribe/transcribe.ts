import { resolve } from 'node:path';
import { openAudio } from '../../speech/audio.js';
import { type TranscribedSegment, transcribe } from '../../speech/transcribe.js';
import { AudioFormatError } from '../../speech/wav.js';
import { CommandError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { print, printJson } from '../output.js';
import { progressView } from '../terminal/progress.js';
import { transcriptFormats } from './formats.js';
import { type LoadedSpeechModels, type SpeechFlags, withSpeechModels } from './speech-models.js';

export interface TranscribeFlags extends SpeechFlags {
  format: 'txt' | 'srt' | 'vtt' | 'json';
  json?: boolean;
}

/** `lorekeep transcribe`: recognises the speech of audio files, without a server. */
export async function transcribeFiles(paths: readonly string[], flags: TranscribeFlags): Promise<void> {
  await interruptible(async (signal) => {
    await withSpeechModels(flags, signal, async (models) => {
      const files = [];
      for (const path of paths) files.push(await transcribeFile(path, models, flags, signal));
      if (isJson(flags)) printJson({ files });
    });
  });
}

const isJson = ({ format, json }: TranscribeFlags) => json === true || format === 'json';

async function transcribeFile(
  path: string,
  models: LoadedSpeechModels,
  flags: TranscribeFlags,
  signal: AbortSignal,
) {
  const { language, translate, prompt, beams, format } = flags;
  const printed = isJson(flags) ? undefined : transcriptFormats[format as Exclude<typeof format, 'json'>];
  const segments: TranscribedSegment[] = [];
  const progress = progressView(process.stderr, { quietMs: 1000, json: isJson(flags) });
  try {
    const audio = await openAudio(resolve(path));
    const onProgress = (heardMs: number) => {
      if (audio.seconds === undefined) return;
      progress.update({ phase: 'speech', done: Math.round(heardMs / 1000), total: Math.ceil(audio.seconds) });
    };
    if (printed !== undefined && printed.head !== '') print(printed.head);
    const options = { ...models, language, translate, prompt, beams, signal, onProgress };
    for await (const segment of transcribe(audio, options)) {
      segments.push(segment);
      if (printed === undefined) continue;
      progress.stop();
      print(printed.segment(segment, segments.length));
    }
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    throw new CommandError('INVALID_ARGUMENT', `${path}: ${error.message}`);
  } finally {
    progress.stop();
  }
  return { file: path, text: segments.map(({ text }) => text).join(' '), segments };
}
