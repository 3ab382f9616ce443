import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { programSamples } from '../../src/speech/program-audio.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const never = new AbortController().signal;

it.skipIf(process.platform === 'win32')('a program that records goes on while nobody reads', async () => {
  const written = file('written');
  const halfMinute = 30 * 32_000;
  const args = ['-c', `head -c ${halfMinute} /dev/zero; echo > '${written}'`];
  const pieces = programSamples({ program: 'sh', args }, never);
  let samples = (await pieces.next()).value?.length ?? 0;
  await vi.waitFor(() => expect(existsSync(written)).toBe(true), { timeout: 20_000 });
  for await (const piece of pieces) samples += piece.length;
  expect(samples).toBe(halfMinute / 2);
});

it('a program that is not installed is named', async () => {
  const pieces = programSamples({ program: 'lorekeep-has-no-such-program', args: [] }, never);
  await expect(pieces.next()).rejects.toMatchObject({ isAbsent: true });
});
