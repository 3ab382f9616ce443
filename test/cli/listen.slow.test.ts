import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { silero, syllables, wavFile } from '../helpers/speech-models.js';
import { tinyWhisper } from '../helpers/tiny-model/tiny-whisper.mjs';
import { type CommandOptions, lorekeep, program, shell } from './command.js';

const inFolder = temporaryFolder();
const text = 'Turn off the lamp.';

/** A model that writes the same text for every piece of speech. */
function model(): string {
  const path = inFolder('ggml-tiny.bin');
  writeFileSync(path, tinyWhisper({ text }));
  return path;
}

/** A second of voice and one of silence, twice. */
function speech(): Float32Array {
  const samples = new Float32Array(5 * 16_000);
  for (const second of [1, 3]) samples.set(syllables(1), second * 16_000);
  return samples;
}

/** A program `arecord` on PATH, alone with the system's tools. */
function recorder(script: string): NodeJS.ProcessEnv {
  const folder = inFolder('bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/arecord`, `#!/bin/sh\n${script}\n`);
  chmodSync(`${folder}/arecord`, 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

const listen = (args: readonly string[], options?: CommandOptions) =>
  lorekeep(['listen', '--model', model(), '--threads', '1', ...args], options);

describe('lorekeep listen', () => {
  it('writes down a file, as text or as JSON', async () => {
    writeFileSync(inFolder('speech.wav'), wavFile(speech()));
    const plain = await listen(['--input', inFolder('speech.wav')]);
    expect(plain).toMatchObject({ status: 0, stdout: `${text}\n${text}\n`, stderr: '' });
    const { stdout } = await listen(['--input', inFolder('speech.wav'), '--json']);
    const [first, second] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ text, language: 'en' });
    expect(second.beginMs).toBeGreaterThan(first.endMs);
    // A longer pause ends a piece.
    const joined = await listen(['--input', inFolder('speech.wav'), '--min-silence', '1500']);
    expect(joined.stdout).toBe(`${text}\n`);
    // Also one of the detector's catalog entry.
    const detector = { name: 'Silero VAD', model_type: 'vad', vad: { min_silence_ms: 1500 } };
    const models = [{ ...detector, variants: [{ file: silero }] }];
    writeFileSync(inFolder('patient.json'), JSON.stringify({ version: 1, models }));
    const patient = await listen(['--input', inFolder('speech.wav'), '--catalog', inFolder('patient.json')]);
    expect(patient).toMatchObject({ status: 0, stdout: `${text}\n` });
  });

  it.skipIf(process.platform !== 'linux')(
    'writes down what arecord records, and ends at Ctrl-C with what was said so far',
    async () => {
      const sound = [wavFile(speech()), wavFile(syllables(1))].map((file) => file.subarray(44));
      writeFileSync(inFolder('speech.raw'), Buffer.concat(sound));
      const env = recorder(
        `echo "$@" > '${inFolder('args')}'; cat '${inFolder('speech.raw')}'; exec sleep 1000`,
      );
      let stopped = false;
      const ended = await listen(['--device', 'hw:1'], {
        env,
        onOutput(printed, child) {
          // The third piece runs until the end of the recording.
          if (printed.split(text).length < 3 || stopped) return;
          stopped = true;
          child.kill('SIGINT');
        },
      });
      expect(ended).toMatchObject({ status: 0, stdout: `${text}\n`.repeat(3) });
      expect(ended.stderr).toBe('listening; Ctrl-C ends\n');
    },
  );

  it('stops reading a file at Ctrl-C', async () => {
    const long = new Float32Array(200 * 16_000);
    for (let second = 1; second < 200; second += 10) long.set(syllables(1), second * 16_000);
    writeFileSync(inFolder('long.wav'), wavFile(long));
    let stopped = false;
    const { status, stdout } = await listen(['--input', inFolder('long.wav')], {
      onOutput(_, child) {
        if (!stopped) child.kill('SIGINT');
        stopped = true;
      },
    });
    expect(status).toBe(0);
    expect(stdout.split(text).length).toBeGreaterThan(1);
    expect(stdout.split(text).length).toBeLessThan(15);
  });

  it.skipIf(process.platform !== 'linux')('ends when nobody reads what it writes', async () => {
    writeFileSync(inFolder('speech.raw'), wavFile(speech()).subarray(44));
    const env = recorder(`while cat '${inFolder('speech.raw')}'; do :; done`);
    const command = `'${process.execPath}' '${program}' listen --model '${model()}' --threads 1`;
    const { stdout, stderr } = await shell(`${command} | head -1`, { env });
    expect([stdout, stderr]).toEqual([`${text}\n`, 'listening; Ctrl-C ends\n']);
  });

  it.skipIf(process.platform !== 'linux')('says why nothing is recorded', async () => {
    const failing = await listen([], {
      env: recorder('echo "audio open error: No such device" >&2; exit 1'),
    });
    expect(failing).toMatchObject({ status: 1, stdout: '' });
    expect(failing.stderr).toContain('arecord cannot record: audio open error: No such device');
    mkdirSync(inFolder('empty'));
    const absent = await listen([], { env: { PATH: inFolder('empty') } });
    expect(absent).toMatchObject({
      status: 1,
      stderr: 'lorekeep: a microphone is recorded by arecord or ffmpeg; none is installed\n',
    });
  });

  it('talks with an agent that answers from a folder', async () => {
    mkdirSync(inFolder('docs'));
    const fact = 'The lamp is turned off by the keeper at sunrise.';
    writeFileSync(inFolder('docs', 'lamp.txt'), `${fact}\n`);
    writeFileSync(inFolder('speech.wav'), wavFile(speech()));
    const shipped = join(import.meta.dirname, '../../data');
    const { models } = JSON.parse(readFileSync(join(shipped, 'models.json'), 'utf8'));
    const found = models.filter(({ name }: { name: string }) => /^(lorekeep-mini|Silero VAD)$/.test(name));
    for (const { variants } of found) variants[0].file = join(shipped, variants[0].file);
    const recogniser = { name: 'Whisper', model_type: 'stt', variants: [{ file: model() }] };
    const catalog = JSON.stringify({ version: 1, models: [...found, recogniser] });
    writeFileSync(inFolder('models.json'), catalog);
    const args = [
      'docs',
      '--embedding-model',
      'lorekeep-mini',
      '--catalog',
      'models.json',
      '--input',
      'speech.wav',
      '--min-silence',
      '1500',
    ];
    const env = { LOREKEEP_STATE: inFolder('state') };
    const said = await lorekeep(['listen', ...args], { cwd: inFolder(), env });
    expect(said.stdout, said.stderr).toContain(`> ${text}\n`);
    expect(said.stdout).toContain(fact);
    expect(said.status).toBe(0);
    // The reply to what was said comes, also when the microphone is pulled out.
    if (process.platform === 'linux') {
      writeFileSync(inFolder('speech.raw'), wavFile(speech()).subarray(44));
      const torn = recorder(`cat '${inFolder('speech.raw')}'; echo unplugged >&2; exit 1`);
      const words = args.filter((word) => !['--input', 'speech.wav'].includes(word));
      const last = await lorekeep(['listen', ...words, '--json'], {
        cwd: inFolder(),
        env: { ...env, ...torn },
      });
      expect(JSON.parse(last.stdout.split('\n', 1)[0] ?? '')).toMatchObject({ question: text, text: fact });
      expect(last).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('arecord cannot record: unplugged'),
      });
    }
    const absent = await lorekeep(['listen', 'dacs', '--input', 'speech.wav'], { cwd: inFolder(), env });
    expect(absent.status).not.toBe(0);
  });

  it('refuses what is typed wrong', async () => {
    const absent = await listen(['--input', inFolder('absent.wav')]);
    expect(absent).toMatchObject({ status: 1 });
    expect(absent.stderr).toContain(inFolder('absent.wav'));
    expect(await listen(['--min-silence', 'long'])).toMatchObject({ status: 2 });
    expect(await listen(['--langauge', 'de'])).toMatchObject({ status: 2 });
    const nothing = await lorekeep(['listen', '--model', 'Whisper tinny']);
    expect(nothing).toMatchObject({ status: 2 });
    // Before the folder is indexed.
    const agent = await lorekeep(['listen', inFolder(), '--model', 'Whisper tinny']);
    expect(agent).toMatchObject({ status: 2 });
    expect(agent.stderr).toMatch(/^lorekeep: --model: there is no model for speech/);
    const prompt = 'x'.repeat(4097);
    const long = await lorekeep(['listen', inFolder(), '--prompt', prompt]);
    expect(long).toMatchObject({ status: 2 });
    expect(long.stderr).toContain('--prompt: at most 4096 characters are expected on an agent, not 4097');
    expect((await listen(['--prompt', prompt.repeat(4)])).status).toBe(2);
    expect((await listen(['--end-of-turn', 'sentence'])).stderr).toContain('no effect without an agent');
    expect((await listen(['--input', 'a.wav', '--device', 'b'])).stderr).toContain('no effect with --input');
  });
});
