import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { onAbort } from '../../../lib/basics.js';
import { fullGrant } from '../../config/keys-file.js';
import type { Shown } from '../../doors/mcp/describe.js';
import { checkedMessage, type Refusal } from '../../doors/mcp/request.js';
import { type JSONRPCMessage, StdioServerTransport, serveStdio } from '../../doors/mcp/sdk.js';
import { type McpDoor, mcpServer } from '../../doors/mcp/server.js';
import { waited } from '../../doors/mcp/waiting.js';
import { placesHere } from '../ask/places.js';
import { exitStatus } from '../exit-status.js';
import { failureMessage } from '../failure.js';
import { note, printFailure } from '../output.js';
import { npxPid, watchParent } from '../parent-process.js';
import { onStopSignal } from '../stop-signal.js';
import { printable } from '../terminal/printable.js';
import { ExactInput } from './exact-input.js';
import { glimpse } from './glimpse.js';
import type { KnowledgeHere, McpFlags } from './knowledge.js';
import { storageNames } from './storage-names.js';

/** The first answer waits for the folders until this time from the start of the process, in ms. Hosts expect it within a second. */
const greetingMs = 800;

/**
 * It waits for nothing if the start alone took longer than this, in ms: opening blocks the event loop in pieces, which a slow or busy
 * machine makes long. Then it says what the last index knew, and the folders are opened after it.
 */
const quickStartMs = 300;

/** They are opened this long after the start if nobody has asked, in ms. */
const silenceMs = 1500;

/** The process ends this long after its host has gone, in ms, even if work does not stop. */
const endMs = 1500;

/** Longest message of a client, in bytes. */
const longestMessage = 16 * 1_048_576;

/** The transport over stdin and stdout. It calls back when a message was written, and when either has ended. */
class StdioTransport extends StdioServerTransport {
  readonly #onSent: () => void;
  readonly #onEnd: () => void;

  constructor(onSent: () => void, onEnd: () => void) {
    const refuse = (refusal: Refusal) => void this.send(refusal as JSONRPCMessage).catch(() => {}); // the host may be gone
    const input = new ExactInput(longestMessage, refuse);
    super(input, process.stdout, { maxBufferSize: longestMessage });
    this.#onSent = onSent;
    this.#onEnd = onEnd;
    let receive: StdioServerTransport['onmessage'];
    Object.defineProperty(this, 'onmessage', {
      get: () => receive,
      set: (next: typeof receive) => {
        receive =
          next &&
          ((message: JSONRPCMessage) => {
            const checked = checkedMessage(input.restore(message), fullGrant.rights);
            if (checked.refusal === undefined) next(checked.message);
            else refuse(checked.refusal);
          });
      },
    });
    // The transport hears how it ends.
    pipeline(process.stdin, input, () => {});
  }

  override async send(...given: Parameters<StdioServerTransport['send']>): Promise<void> {
    await super.send(...given);
    this.#onSent();
  }

  override async close(): Promise<void> {
    await super.close();
    this.#onEnd();
  }
}

/** What is wrong with the messages or the pipes: of the client, not of lorekeep. */
const transportProblem = (error: Error): string =>
  error.name === 'ZodError' || error instanceof SyntaxError
    ? 'a line of stdin is no message of MCP; it was ignored'
    : error.message;

/** `lorekeep mcp`: serves MCP over stdin and stdout until the host ends. @throws CommandError for a place that does not exist */
export async function mcp(words: readonly string[], flags: McpFlags): Promise<void> {
  const places = await placesHere(words);
  const writable = flags.write === true;
  const named: Shown = await glimpse(
    storageNames(places).map((name, index) => ({
      name,
      writable,
      folder: places[index]?.kind === 'folder' ? places[index].path : undefined,
    })),
  );
  const ending = new AbortController();
  const doors: McpDoor[] = [];
  const ended = new Promise<void>((resolve) => onAbort(ending.signal, resolve));
  const end = () => {
    if (ending.signal.aborted) return;
    setTimeout(() => process.exit(exitStatus.done), endMs).unref();
    ending.abort(new Error('the client has gone'));
  };
  let opening: Promise<KnowledgeHere> | undefined;
  let opened: KnowledgeHere | undefined;
  /** After a failure the next call tries again: the folder may have been mended. */
  const open = (): Promise<KnowledgeHere> => {
    opening ??= openKnowledge().catch((error) => {
      opening = undefined;
      if (!ending.signal.aborted) printFailure(error);
      throw error;
    });
    return opening;
  };
  const openKnowledge = async (): Promise<KnowledgeHere> => {
    const { KnowledgeHere } = await import('./knowledge.js');
    const describeAll = (shown: Shown) => {
      for (const { describe } of doors) describe(shown);
    };
    opened = await KnowledgeHere.open(places, flags, ending.signal, describeAll);
    describeAll(opened.storages);
    return opened;
  };
  let answered = () => {};
  const firstAnswer = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const isQuick = performance.now() < quickStartMs;
  const begun = isQuick ? Promise.resolve() : Promise.race([firstAnswer, delay(silenceMs)]);
  const first = begun.then(open).catch(() => undefined);
  const parent = npxPid() ?? process.ppid;
  if (parent > 1) watchParent(parent, end);
  onStopSignal(async () => {
    end();
    await close();
  });
  const handle = serveStdio(
    async () => {
      const leftMs = Math.max(0, greetingMs - performance.now());
      if (isQuick) await Promise.race([first, delay(leftMs, undefined, { ref: false })]);
      const door = mcpServer({
        shown: opened?.storages ?? named,
        rights: fullGrant.rights,
        whenOpen: (request) => waited(open(), request, 'the folders are being indexed'),
        explain: failureMessage,
      });
      doors.push(door);
      return door.server;
    },
    {
      transport: new StdioTransport(answered, end),
      onerror: (error) => note(`lorekeep: ${printable(transportProblem(error)).slice(0, 500)}`),
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
