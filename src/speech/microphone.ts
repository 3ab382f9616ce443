import type { Audio } from './audio.js';
import { programRate, programSamples, type SampleProgram, SampleProgramError } from './program-audio.js';

/** No program records here, or the one that is there failed. */
export class MicrophoneError extends Error {
  override readonly name = 'MicrophoneError';
}

const rate = String(programRate);

/** Programs that record here, in the order in which they are tried. */
function recorders(device: string | undefined): SampleProgram[] {
  const ffmpeg = (system: string, input: string): SampleProgram => ({
    program: 'ffmpeg',
    args: [
      '-nostdin',
      '-v',
      'error',
      '-f',
      system,
      '-i',
      input,
      '-f',
      's16le',
      '-ac',
      '1',
      '-ar',
      rate,
      'pipe:1',
    ],
  });
  if (process.platform === 'darwin') return [ffmpeg('avfoundation', `:${device ?? 'default'}`)];
  if (process.platform === 'win32') {
    if (device === undefined)
      throw new MicrophoneError(
        '--device: the name of a microphone is expected; ffmpeg -f dshow -list_devices true -i dummy lists them',
      );
    return [ffmpeg('dshow', `audio=${device}`)];
  }
  const format = ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', rate, '-c', '1'];
  const named = device === undefined ? [] : ['-D', device];
  return [{ program: 'arecord', args: [...format, ...named] }, ffmpeg('alsa', device ?? 'default')];
}

/**
 * The sound of a microphone, recorded by arecord or ffmpeg until `stop` is aborted.
 * @param device as the program names it; default: that of the system
 * @throws MicrophoneError, at once or by pieces()
 */
export function openMicrophone(device: string | undefined, stop: AbortSignal): Audio {
  const programs = recorders(device);
  return {
    rate: programRate,
    channels: 1,
    seconds: undefined,
    pieces: (signal) => recorded(programs, signal, stop),
  };
}

async function* recorded(
  programs: readonly SampleProgram[],
  signal: AbortSignal,
  stop: AbortSignal,
): AsyncGenerator<Float32Array, void, undefined> {
  for (const program of programs) {
    try {
      return yield* programSamples(program, signal, stop);
    } catch (error) {
      if (!(error instanceof SampleProgramError)) throw error;
      if (!error.isAbsent) throw new MicrophoneError(`${program.program} cannot record: ${error.message}`);
    }
  }
  const [first, ...others] = programs.map(({ program }) => program);
  const absent =
    others.length === 0 ? `${first}, which is not installed` : `${first} or ${others}; none is installed`;
  throw new MicrophoneError(`a microphone is recorded by ${absent}`);
}
