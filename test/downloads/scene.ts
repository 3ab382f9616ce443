import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { ModelDownloads, type PullOptions } from '../../src/models/downloads/model-downloads.js';
import { FileServer } from './file-server.js';

/** A file that begins as a model does. */
export const model = (bytes: number) =>
  Buffer.concat([Buffer.from('GGUF\x03\0\0\0', 'latin1'), randomBytes(bytes - 8)]);
export const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
export const never = new AbortController().signal;

/** A server with one file, and a folder, not yet made, to download it into. */
export async function start(bytes = 300_000) {
  const server = await FileServer.listen(model(bytes));
  const place = mkdtempSync(join(tmpdir(), 'lorekeep-downloads-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const folder = join(place, 'models');
  const downloads = new ModelDownloads(folder);
  const notes: string[] = [];
  const variant = { url: `${server.url}/some%20folder/model.gguf?signature=secret` };
  const pull = (fields: object = {}, options: Partial<PullOptions> = {}) =>
    downloads.pull(
      { ...variant, ...fields },
      { signal: never, retryMs: 1, environment: {}, onNote: (text) => notes.push(text), ...options },
    );
  return { server, folder, downloads, notes, variant, pull };
}

/** The clock that does not follow the time of day leaps each time that it is read. */
export function leapingClock(ms: number): void {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += ms;
    return now;
  });
  onTestFinished(() => void vi.restoreAllMocks());
}
