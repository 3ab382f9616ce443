import { type Command, Option } from 'commander';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import type { TranscribeFlags } from '../transcribe/transcribe.js';

export function addTranscribe(program: Command): void {
  const command = program
    .command('transcribe')
    .description('Write down the speech of audio files, without a server.')
    .argument('<file...>', 'WAV files; others are read by ffmpeg, if it is installed');
  addSpeechFlags(command)
    .addOption(
      new Option('--format <format>', 'form of the transcript')
        .choices(['txt', 'srt', 'vtt', 'json'])
        .default('txt'),
    )
    .option('--json', 'one JSON result on stdout, as --format json')
    .addHelpText('after', `\n${exitStatusHelp}`)
    .action(async (files: string[], flags: TranscribeFlags) => {
      const { transcribeFiles } = await import('../transcribe/transcribe.js');
      await transcribeFiles(files, flags);
    });
}

/** Adds the flags that say which models hear, and how. */
export function addSpeechFlags(command: Command): Command {
  return command
    .option('--model <name>', 'the model: a name of the catalog, or a ggml-*.bin file (default: the first)')
    .option('--vad-model <name>', 'the model that finds speech (default: default_vad_model of the config)')
    .option('--language <code>', 'the language, as de (default: detected)')
    .option('--translate', 'translate into English')
    .option('--prompt <text>', 'names and spellings to expect')
    .option('--beams <n>', 'beams of the search', integer(1, 8), 1)
    .option('--threads <n>', 'threads; 0: all available processors, at most 8', integer(0, 1024), 0)
    .option('--config <file>', "the server's config, whose catalog is used")
    .option('--catalog <file>', 'another catalog');
}
