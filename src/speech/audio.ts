import { LorekeepError, openRegular, unreadable } from '../../lib/basics.js';
import { probedSeconds } from './probed-seconds.js';
import { programRate, programSamples, SampleProgramError } from './program-audio.js';
import { AudioFormatError, decodeSamples, isWav, type WavFormat, wavFormat } from './wav.js';

/** Audio that is read piece by piece. */
export interface Audio {
  /** Samples a second. */
  readonly rate: number;
  /** Interleaved in `pieces`. */
  readonly channels: number;
  /** In seconds, if the file says so; of compressed audio, perhaps estimated. */
  readonly seconds: number | undefined;
  /** Floats in [-1, 1]. @throws AudioFormatError, system errors, the signal's reason */
  pieces(signal: AbortSignal): AsyncGenerator<Float32Array, void, undefined>;
}

/** Ends the audio where reading fails, so that speech before that point is recognised before the error is thrown. */
export class PiecesUntilFailure {
  readonly #audio: Audio;
  readonly #signal: AbortSignal;
  #failure: { error: unknown } | undefined;

  constructor(audio: Audio, signal: AbortSignal) {
    this.#audio = audio;
    this.#signal = signal;
  }

  /** @throws the signal's reason */
  async *[Symbol.asyncIterator](): AsyncGenerator<Float32Array, void, undefined> {
    try {
      yield* this.#audio.pieces(this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#failure = { error };
    }
  }

  /** @throws as Audio.pieces(), if reading has failed */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** Bytes of a piece. */
const pieceBytes = 256 * 1024;

/** Opens a WAV file, or any other that ffmpeg reads, if it is installed. @throws NOT_FOUND; as Audio.pieces() */
export async function openAudio(path: string): Promise<Audio> {
  await using file = await openRegular(path).catch((error: unknown) => {
    throw error instanceof LorekeepError ? error : unreadable(path, error);
  });
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
  if (!isWav(buffer.subarray(0, bytesRead))) return throughFfmpeg(path, 'it is not a WAV file');
  try {
    return wavAudio(path, await wavFormat(file, size));
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    return throughFfmpeg(path, error.message);
  }
}

function wavAudio(path: string, format: WavFormat): Audio {
  const frame = (format.bits / 8) * format.channels;
  const { rate, channels, begin, bytes } = format;
  return {
    rate,
    channels,
    seconds: bytes / frame / rate,
    async *pieces(signal) {
      await using opened = await openRegular(path);
      const length = pieceBytes - (pieceBytes % frame);
      for (let at = begin; at < begin + bytes; ) {
        signal.throwIfAborted();
        const wanted = Math.min(length, begin + bytes - at);
        const read = await opened.read(Buffer.alloc(wanted), 0, wanted, at);
        const whole = read.bytesRead - (read.bytesRead % frame);
        if (whole === 0) return;
        yield decodeSamples(read.buffer.subarray(0, whole), format);
        at += whole;
      }
    },
  };
}

/** The file as samples of ffmpeg, which runs while they are read. `reason`: why it is not read here. */
async function throughFfmpeg(path: string, reason: string): Promise<Audio> {
  // The protocol keeps a list of files, or an address, in a file from being opened.
  const input = ['-protocol_whitelist', 'file,pipe', '-i', `file:${path}`];
  const output = ['-f', 's16le', '-ac', '1', '-ar', String(programRate), 'pipe:1'];
  const args = ['-nostdin', '-v', 'error', ...input, '-vn', ...output];
  return {
    rate: programRate,
    channels: 1,
    seconds: await probedSeconds(input),
    async *pieces(signal) {
      try {
        yield* programSamples({ program: 'ffmpeg', args }, signal);
      } catch (error) {
        if (!(error instanceof SampleProgramError)) throw error;
        throw new AudioFormatError(
          error.isAbsent
            ? `${reason}; other formats are read by ffmpeg, which is not installed`
            : `${reason}, and ffmpeg cannot read its sound: ${error.message}`,
        );
      }
    },
  };
}
