import { type Audio, openAudio } from '../../speech/audio.js';
import { MicrophoneError, openMicrophone } from '../../speech/microphone.js';
import { transcribe } from '../../speech/transcribe.js';
import { AudioFormatError } from '../../speech/wav.js';
import { CommandError, UsageError } from '../failure.js';
import { untilStopped } from '../interrupt.js';
import { note, outputIsLost, print, printJsonLine } from '../output.js';
import { printable } from '../terminal/printable.js';
import { type SpeechFlags, withSpeechModels } from '../transcribe/speech-models.js';
import { namesAgent, type TalkFlags, talk } from './talk.js';

export interface ListenFlags extends SpeechFlags, TalkFlags {
  input?: string;
  device?: string;
}

/** `lorekeep listen`: writes down what a microphone hears, or gives it to an agent, until Ctrl-C. */
export async function listen(words: readonly string[], flags: ListenFlags): Promise<void> {
  refuseIneffective(words, flags);
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

/** @throws UsageError for a flag that this way of listening does not use */
function refuseIneffective(words: readonly string[], flags: ListenFlags): void {
  const refuse = (ineffective: Record<string, unknown>, why: string) => {
    for (const [flag, value] of Object.entries(ineffective))
      if (value) throw new UsageError(`${flag}: it has no effect ${why}`);
  };
  if (flags.input !== undefined) refuse({ '--device': flags.device }, 'with --input');
  if (namesAgent(words, flags)) refuse({ '--threads': flags.threads }, 'on an agent');
  else
    refuse(
      {
        '--end-of-turn': flags.endOfTurn,
        '--language-model': flags.languageModel,
        '--embedding-model': flags.embeddingModel,
        '--access-token-file': flags.accessTokenFile,
      },
      'without an agent: name a folder, a knowledge base or a server',
    );
}

async function writeDown(
  flags: ListenFlags,
  openSound: () => Promise<Audio>,
  signal: AbortSignal,
): Promise<void> {
  const { language, translate, prompt, beams, minSilence, json } = flags;
  await withSpeechModels(flags, signal, async (models) => {
    const audio = await openSound();
    const voice = minSilence === undefined ? models.voice : { ...models.voice, minSilenceMs: minSilence };
    const options = { ...models, voice, language, translate, prompt, beams, signal };
    for await (const segment of transcribe(audio, options)) {
      if (outputIsLost()) return;
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
  const audio = await openAudio(input);
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
