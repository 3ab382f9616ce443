import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { syllables, wavFile } from '../helpers/speech-models.js';
import { tinyWhisper } from '../helpers/tiny-model/tiny-whisper.mjs';
import { browserPath, launch } from '../monitor/browser.js';

if (browserPath === undefined)
  console.log('left out: the example of a voice; the Debian package chromium is not installed');

const inFolder = temporaryFolder();
const example = join(import.meta.dirname, '..', '..', 'examples', 'voice', 'serve.mjs');
const question = 'When does the ferry leave?';
const fact = 'The ferry leaves on Tuesdays and Fridays at high tide.';

/** Has the page lose its microphone at the event "unplug". */
const unpluggable = `
  const devices = navigator.mediaDevices;
  const open = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (wanted) => {
    const stream = await open(wanted);
    addEventListener('unplug', () => stream.getTracks()[0].dispatchEvent(new Event('ended')));
    return stream;
  };`;

/** Starts the example, and resolves with the address that it prints. */
async function served(): Promise<string> {
  writeFileSync(inFolder('ggml-tiny.bin'), tinyWhisper({ text: question }));
  writeFileSync(inFolder('text.txt'), `${fact}\n\nThe printer is in the office.\n`);
  const child: ChildProcess = spawn(
    process.execPath,
    [example, inFolder('ggml-tiny.bin'), inFolder('text.txt'), '--port', '0'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (printed += piece));
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/http:\S+/);
  return /http:\S+/.exec(printed)?.[0] ?? '';
}

/** A browser whose microphone plays a file, once. */
async function browserThatHears(samples: Float32Array) {
  const file = inFolder('microphone.wav');
  writeFileSync(file, wavFile(samples));
  const browser = await launch([
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}%noloop`,
  ]);
  onTestFinished(() => browser.close());
  return browser;
}

describe.skipIf(browserPath === undefined)('the example of a voice', () => {
  it('answers what somebody says into the microphone of a browser', async () => {
    const url = await served();
    const samples = new Float32Array(6 * 16_000);
    samples.set(syllables(1.5), 2 * 16_000);
    const page = await (await browserThatHears(samples)).newPage();
    await page.addInitScript({ content: unpluggable });
    await page.goto(url);
    await page.getByRole('button', { name: 'Talk' }).click();
    await page.locator('.said', { hasText: question }).waitFor({ timeout: 60_000 });
    await page.locator('.reply', { hasText: fact }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Talk' }).waitFor({ timeout: 60_000 });
    expect(await page.locator('#problem').textContent()).toBe('');
    await page.getByRole('button', { name: 'Talk' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ timeout: 60_000 });
    await page.evaluate('dispatchEvent(new Event("unplug"))');
    await page.getByRole('button', { name: 'Talk' }).waitFor({ timeout: 60_000 });
    expect(await page.locator('#problem').textContent()).toBe('The microphone is gone.');
  });
});
