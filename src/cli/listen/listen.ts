import { resolve } from 'node:path';
import { type Audio, openAudio } from '../../speech/audio.js';
import { MicrophoneError, openMicrophone } from '../../speech/microphone.js';
import { transcribe } from '../../speech/transcribe.js';
import { AudioFormatError } from '../../speech/wav.js';
import { CommandError } from '../failure.js';
import { untilStopped } from '../interrupt.js';
import { note, print, printJsonLine } from '../output.js';
import { printable } from '../terminal/printable.js';
import { type SpeechFlags, withSpeechModels } from '../transcribe/speech-models.js';
import { namesAgent, type TalkFlags, talk } from './talk.js';

export interface ListenFlags extends SpeechFlags, TalkFlags {
  input?: string;
  device?: string;
}

/** `lorekeep listen`: writes down what a microphone hears, or gives it to an agent, until Ctrl-C. */
export async function listen(words: readonly string[], flags: ListenFlags): Promise<void> {
  await untilStopped(async (stop, signal) => {
    try {
      const openSound = () => sound(flags, stop);
      if (namesAgent(words, flags)) await talk(words, flags, openSound, signal);
      else await writeDown(flags, openSound, signal);
    } catch (error) {
      throw translated(error, flags);
    }
  });
}

async function writeDown(
  flags: ListenFlags,
  openSound: () => Promise<Audio>,
  signal: AbortSignal,
): Promise<void> {
  const { language, translate, prompt, beams, minSilence, json } = flags;
  await withSpeechModels(flags, signal, async (models) => {
    const audio = await openSound();
    const voice = minSilence === undefined ? {} : { minSilenceMs: minSilence };
    const options = { ...models, voice, language, translate, prompt, beams, signal };
    for await (const segment of transcribe(audio, options)) {
      if (json) printJsonLine(segment);
      else print(printable(segment.text));
    }
  });
}

async function sound({ input, device }: ListenFlags, stop: AbortSignal): Promise<Audio> {
  if (input === undefined) {
    const microphone = openMicrophone(device, stop);
    return { ...microphone, pieces: (signal) => noted(microphone.pieces(signal)) };
  }
  const audio = await openAudio(resolve(input));
  return { ...audio, pieces: (signal) => until(stop, audio.pieces(signal)) };
}

/** Tells the user to speak once the microphone gives sound. */
async function* noted<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
  let isListening = false;
  for await (const piece of pieces) {
    if (!isListening) note('listening; Ctrl-C ends');
    isListening = true;
    yield piece;
  }
}

async function* until<Piece>(stop: AbortSignal, pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
  for await (const piece of pieces) {
    if (stop.aborted) return;
    yield piece;
  }
}

function translated(error: unknown, { input }: ListenFlags): unknown {
  if (error instanceof MicrophoneError) return new CommandError('IO', error.message);
  if (error instanceof AudioFormatError)
    return new CommandError('INVALID_ARGUMENT', `${input}: ${error.message}`);
  return error;
}
