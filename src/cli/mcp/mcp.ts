import { setTimeout as delay } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { onAbort } from '../../../lib/basics.js';
import type { OpenFlags } from '../ask/opened.js';
import { placesHere } from '../ask/places.js';
import { exitStatus } from '../exit-status.js';
import { failureMessage } from '../failure.js';
import { note, printFailure } from '../output.js';
import { npxPid, watchParent } from '../parent-process.js';
import { onStopSignal } from '../stop-signal.js';
import { printable } from '../terminal/printable.js';
import type { Knowledge } from './knowledge.js';
import { type Door, mcpServer } from './server.js';
import { storageNames } from './storage-names.js';
import { waited } from './waiting.js';

/**
 * The answer to the first message says what is in the folders if they are open within this time from the start of the
 * process, in ms. Hosts expect an answer within a second.
 */
const greetingMs = 800;

/** The process ends this long after its host has gone, in ms, even if work does not stop. */
const endMs = 1500;

/** Longest message of a client, in bytes. */
const longestMessage = 16 * 1_048_576;

/** The transport over stdin and stdout. It calls back when either has ended. */
class StdioTransport extends StdioServerTransport {
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    super(process.stdin, process.stdout, { maxBufferSize: longestMessage });
    this.#onEnd = onEnd;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#onEnd();
  }
}

/** `lorekeep mcp`: serves MCP over stdin and stdout until the host ends. @throws CommandError for a place that does not exist */
export async function mcp(words: readonly string[], flags: OpenFlags): Promise<void> {
  const places = await placesHere(words);
  const names = storageNames(places);
  const ending = new AbortController();
  const doors: Door[] = [];
  const ended = new Promise<void>((resolve) => onAbort(ending.signal, resolve));
  const end = () => {
    if (ending.signal.aborted) return;
    setTimeout(() => process.exit(exitStatus.done), endMs).unref();
    ending.abort(new Error('the client has gone'));
  };
  let opening: Promise<Knowledge> | undefined;
  let opened: Knowledge | undefined;
  /** After a failure the next call tries again: the folder may have been mended. */
  const open = (): Promise<Knowledge> => {
    opening ??= openKnowledge().catch((error) => {
      opening = undefined;
      if (!ending.signal.aborted) printFailure(error);
      throw error;
    });
    return opening;
  };
  const openKnowledge = async (): Promise<Knowledge> => {
    const { Knowledge } = await import('./knowledge.js');
    opened = await Knowledge.open(places, flags, ending.signal);
    for (const { describe } of doors) describe(opened);
    return opened;
  };
  const first = open().catch(() => undefined);
  const parent = npxPid() ?? process.ppid;
  if (parent > 1) watchParent(parent, end);
  onStopSignal(async () => {
    end();
    await close();
  });
  const handle = serveStdio(
    async () => {
      const leftMs = Math.max(0, greetingMs - performance.now());
      await Promise.race([first, delay(leftMs, undefined, { ref: false })]);
      const door = mcpServer(opened ?? { names, storages: undefined }, (request) =>
        waited(open(), request, 'the folders are being indexed'),
      );
      doors.push(door);
      return door.server;
    },
    {
      transport: new StdioTransport(end),
      onerror: (error) => note(`lorekeep: ${printable(failureMessage(error)).slice(0, 500)}`),
    },
  );
  const close = async () => {
    await handle.close();
    const knowledge = await opening?.catch(() => undefined);
    await knowledge?.[Symbol.asyncDispose]();
  };
  await ended;
  await close();
  process.exit(exitStatus.done);
}
