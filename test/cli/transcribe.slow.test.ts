import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { haveWhisper, syllables, vowel, wavFile, whisperTiny } from '../helpers/speech-models.js';
import { tinyWhisper } from '../helpers/tiny-model/tiny-whisper.mjs';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

describe('lorekeep transcribe', () => {
  it('says what is missing: a file, a model', async () => {
    writeFileSync(inFolder('quiet.wav'), wavFile(new Float32Array(16_000)));
    const none = await lorekeep(['transcribe', inFolder('quiet.wav')]);
    expect(none).toMatchObject({ status: 2 });
    expect(none.stderr).toMatch(/^lorekeep: --model: the catalog has no model for speech/);
    const unknown = await lorekeep(['transcribe', inFolder('quiet.wav'), '--model', 'Whisper tinny']);
    expect(unknown.stderr).toContain('there is no model for speech');
    const other = await lorekeep(['transcribe', inFolder('quiet.wav'), '--model', inFolder('quiet.wav')]);
    expect(other).toMatchObject({ status: 1 });
    expect(other.stderr).toContain(`lorekeep: --model: ${inFolder('quiet.wav')}: is not a model of speech`);
    expect((await lorekeep(['transcribe'])).status).toBe(2);
  });
});

describe('lorekeep transcribe with a model that always writes the same', () => {
  const text = 'Turn off the lamp & <stop> ---> now.';
  function speech(...more: string[]) {
    writeFileSync(inFolder('ggml-tiny.bin'), tinyWhisper({ text }));
    const samples = new Float32Array(3 * 16_000);
    samples.set(syllables(1), 16_000);
    writeFileSync(inFolder('speech.wav'), wavFile(samples));
    return lorekeep(['transcribe', '--model', inFolder('ggml-tiny.bin'), inFolder('speech.wav'), ...more]);
  }

  it('writes subtitles whose texts cannot be taken for marks', async () => {
    const times =
      /^1\n00:00:0(?:0,9|1,0)\d\d --> 00:00:0(?:1,9|2,0)\d\d\nTurn off the lamp & <stop> -> now\.\n\n$/;
    expect((await speech('--format', 'srt')).stdout).toMatch(times);
    expect((await speech('--format', 'vtt')).stdout).toContain(
      '\nTurn off the lamp &amp; &lt;stop> -> now.\n',
    );
    const { files } = JSON.parse((await speech('--json')).stdout);
    expect(files[0]).toMatchObject({ text, segments: [{ text, language: 'en' }] });
    expect(files[0].segments[0].words.map((word: { text: string }) => word.text)).toEqual(text.split(' '));
  });

  it('goes on after a file that it cannot read, which it names', async () => {
    writeFileSync(inFolder('text.wav'), 'no sound');
    const bad = [inFolder('text.wav'), inFolder('absent.wav'), dirname(inFolder('text.wav'))];
    const { status, stdout, stderr } = await speech(...bad, inFolder('speech.wav'));
    expect(status).toBe(1);
    const heads = [inFolder('speech.wav'), ...bad, inFolder('speech.wav')].map((path) => `==> ${path} <==`);
    expect(stdout.split('\n')).toEqual([heads[0], text, ...heads.slice(1), text, '']);
    for (const path of bad) expect(stderr).toContain(`lorekeep: ${path}: `);
    const { files } = JSON.parse((await speech(...bad, inFolder('speech.wav'), '--json')).stdout);
    expect(files).toMatchObject([
      { text },
      { file: bad[0], text: '', error: { code: 'INVALID_ARGUMENT' } },
      { file: bad[1], text: '', error: { code: 'NOT_FOUND' } },
      { file: bad[2], text: '' },
      { text },
    ]);
    expect(files[4]).not.toHaveProperty('error');
    const subtitles = await speech(inFolder('speech.wav'), '--format', 'srt');
    expect(subtitles).toMatchObject({ status: 2, stdout: '' });
    expect(subtitles.stderr).toContain('--format: srt takes one file');
  });

  it('refuses a prompt that is too long before it loads the model', async () => {
    const prompt = 'é'.repeat(8193);
    const long = await lorekeep([
      'transcribe',
      '--model',
      inFolder('none.bin'),
      'none.wav',
      '--prompt',
      prompt,
    ]);
    expect(long).toMatchObject({ status: 2, stdout: '' });
    expect(long.stderr).toContain('--prompt: at most 16384 bytes are expected, not 16386');
  });

  it('refuses languages that the model does not know before it listens', async () => {
    const unknown = await speech('--language', 'xx');
    expect(unknown).toMatchObject({ status: 2, stdout: '' });
    expect(unknown.stderr).toContain('--language: "xx" is no language of Whisper');
    expect((await speech('--language', 'de')).stderr).toContain('knows English alone');
    expect((await speech('--translate')).stderr).toContain('--translate: the model');
  });
});

describe.runIf(haveWhisper())('lorekeep transcribe with real weights', () => {
  const run = (...args: string[]) => lorekeep(['transcribe', '--model', whisperTiny, ...args]);

  it('prints nothing for silence, in every form', async () => {
    const file = inFolder('silence.wav');
    writeFileSync(file, wavFile(new Float32Array(32_000)));
    expect(await run(file)).toMatchObject({ status: 0, stdout: '' });
    expect((await run(file, '--format', 'vtt')).stdout).toBe('WEBVTT\n\n');
    expect(JSON.parse((await run(file, '--json')).stdout)).toEqual({
      files: [{ file, text: '', segments: [] }],
    });
  });

  it('refuses files without sound', async () => {
    writeFileSync(inFolder('bad.wav'), wavFile(vowel(1)).subarray(0, 30));
    const { status, stderr } = await run(inFolder('bad.wav'));
    expect(status).toBe(1);
    expect(stderr).toContain(`${inFolder('bad.wav')}: `);
    const absent = await run(inFolder('absent.wav'));
    expect(absent).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('absent.wav: the file does not exist'),
    });
  });
});
