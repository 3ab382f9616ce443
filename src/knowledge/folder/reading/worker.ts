/** The thread in which files are found, read and cut, so that one that takes too long can be stopped. */
import { parentPort } from 'node:worker_threads';
import { cutsOf } from '../../../documents/chunks.js';
import { UnreadableDocument } from '../../../documents/document.js';
import { DocumentReader } from '../../../documents/reader.js';
import { findFiles } from './find-files.js';
import type { ReadingReply, ReadingRequest } from './messages.js';
import { RemoteRecognizer } from './remote-recognizer.js';

const port = parentPort;
if (port === null) throw new Error('is the main module of a worker thread');
const reply = (message: ReadingReply) => port.postMessage(message);

/** Items of a batch, and their characters. */
const batchItems = 256;
const batchCharacters = 256 * 1024;

let onMore = () => {};

const scans = new RemoteRecognizer(reply);

port.on('message', (request: ReadingRequest) => {
  if (request.kind === 'more') onMore();
  else if (request.kind === 'recognized') scans.take(request);
  else if (request.kind === 'find') void find(request);
  else void read(request);
});

/** Sends items in batches; the next batch waits until the last one was taken. */
async function sendAll<T>(items: AsyncIterable<T>, send: (batch: T[]) => void, size: (item: T) => number) {
  let batch: T[] = [];
  let characters = 0;
  try {
    for await (const item of items) {
      batch.push(item);
      characters += size(item);
      if (batch.length < batchItems && characters < batchCharacters) continue;
      const taken = new Promise<void>((resolve) => {
        onMore = resolve;
      });
      const full = batch;
      batch = [];
      characters = 0;
      send(full);
      await taken;
    }
  } finally {
    // Also what was read before a failure.
    if (batch.length > 0) send(batch);
  }
}

async function find({ folder, options }: Extract<ReadingRequest, { kind: 'find' }>): Promise<void> {
  try {
    await sendAll(
      findFiles(folder, options),
      (files) => reply({ kind: 'files', files }),
      () => 1,
    );
    reply({ kind: 'end', problems: [] });
  } catch (error) {
    const { message, code, path } = error as NodeJS.ErrnoException;
    // A copy of an error has no code.
    reply({ kind: 'error', message, facts: { code, path } });
  }
}

async function read({
  path,
  mapping,
  chunking,
  ocr,
  readability,
}: Extract<ReadingRequest, { kind: 'read' }>): Promise<void> {
  try {
    await using reader = new DocumentReader(mapping, ocr ? scans : undefined, readability);
    await reader.read(path, async (document) => {
      await sendAll(
        cutsOf(document, chunking),
        (cuts) => reply({ kind: 'cuts', cuts }),
        ({ body }) => body.length,
      );
      reply({ kind: 'end', problems: document.problems ?? [], missing: document.missing });
    });
  } catch (error) {
    if (error instanceof UnreadableDocument)
      reply({ kind: 'failed', reason: error.message, missing: error.missing });
    else reply({ kind: 'failed', reason: `its reader failed: ${(error as Error).message}` });
  }
}
