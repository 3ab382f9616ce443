import { openAudio } from '../../speech/audio.js';
import type { TranscribedSegment } from '../../speech/divided-text.js';
import { transcribe } from '../../speech/transcribe.js';
import { AudioFormatError } from '../../speech/wav.js';
import { exitStatus } from '../exit-status.js';
import { CommandError, type FailureReport, failureReport, UsageError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { outputIsLost, print, printFailure, printJson } from '../output.js';
import { printable } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { type TranscriptFormat, transcriptFormats } from './formats.js';
import { type LoadedSpeechModels, type SpeechFlags, withSpeechModels } from './speech-models.js';

export interface TranscribeFlags extends SpeechFlags {
  format: 'txt' | 'srt' | 'vtt' | 'json';
  json?: boolean;
}

/** The speech of a file as `--json` prints it; with `error`, as far as the file could be read. */
interface Transcript extends Partial<FailureReport> {
  file: string;
  text: string;
  segments: TranscribedSegment[];
}

/** `lorekeep transcribe`: recognises the speech of audio files, without a server. A file that cannot be read does not end it. */
export async function transcribeFiles(paths: readonly string[], flags: TranscribeFlags): Promise<void> {
  const format = flags.json || flags.format === 'json' ? undefined : transcriptFormats[flags.format];
  if (paths.length > 1 && format !== undefined && !format.joins)
    throw new UsageError(`--format: ${flags.format} takes one file, not ${paths.length}`);
  await interruptible(async (signal) => {
    await withSpeechModels(flags, signal, async (models) => {
      const files = [];
      for (const path of paths) {
        if (outputIsLost()) return;
        if (paths.length > 1 && format !== undefined) print(`==> ${printable(path)} <==`);
        files.push(await transcribeFile(path, { ...flags, ...models, signal }, format));
      }
      if (format === undefined) printJson({ files });
    });
  });
}

type Options = LoadedSpeechModels & Omit<SpeechFlags, 'model'> & { signal: AbortSignal };

/** Reports the error of a file. @throws the signal's reason */
async function transcribeFile(
  file: string,
  options: Options,
  format: TranscriptFormat | undefined,
): Promise<Transcript> {
  const { detector, voice, recogniser, language, translate, prompt, beams, signal } = options;
  const segments: TranscribedSegment[] = [];
  const progress = progressView(process.stderr, { quietMs: 1000, json: format === undefined });
  let printed = 0;
  let failure: FailureReport | undefined;
  try {
    const audio = await openAudio(file);
    const onProgress = (heardMs: number) => {
      if (audio.seconds === undefined) return;
      const total = Math.ceil(audio.seconds);
      progress.update({ phase: 'speech', done: Math.min(total, Math.round(heardMs / 1000)), total });
    };
    if (format !== undefined && format.head !== '') print(format.head);
    const recognition = { together: true, language, translate, prompt, beams, signal, onProgress };
    for await (const segment of transcribe(audio, { detector, voice, recogniser, ...recognition })) {
      if (outputIsLost()) break;
      segments.push(segment);
      if (format === undefined) continue;
      progress.stop();
      for (const piece of format.pieces(segment)) print(format.print(piece, ++printed));
    }
  } catch (error) {
    signal.throwIfAborted();
    const told =
      error instanceof AudioFormatError
        ? new CommandError('INVALID_ARGUMENT', `${file}: ${error.message}`)
        : error;
    progress.stop();
    printFailure(told);
    process.exitCode = exitStatus.failed;
    failure = failureReport(told);
  } finally {
    progress.stop();
  }
  return { file, text: segments.map(({ text }) => text).join(' '), segments, ...failure };
}
