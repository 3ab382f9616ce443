import type { StorageChanges, UpdateResult } from '../../../lib/internal.js';
import type { QuotingHistory } from '../../knowledge/operator/messages.js';
import { ask, endedCode, type Peers, peersOf } from '../../knowledge/operator/peers.js';
import { plainFiles } from '../../knowledge/paths.js';
import { resolveAny } from '../../knowledge/resolve.js';

/** The processes that have a knowledge base open, as a server does. `file`: the config. */
async function processesOf(file: string): Promise<Peers> {
  const source = await resolveAny(plainFiles(file));
  // A database takes changes of any process.
  return 'files' in source ? peersOf(source.files.records) : { peers: [], unreached: [] };
}

/** Changes a knowledge base through the process that may change it alone; undefined if there is none. @throws as update() */
export async function updateThrough(
  file: string,
  changes: StorageChanges,
  signal: AbortSignal,
): Promise<UpdateResult | undefined> {
  const { peers } = await processesOf(file);
  const writer = peers.find(({ facts }) => facts.isWriter);
  return writer && ask(writer.socket, { op: 'update', changes }, signal);
}

/** Has the process that may change a knowledge base alone let this one do so. */
export async function letGoElsewhere(file: string, signal: AbortSignal): Promise<void> {
  const { peers } = await processesOf(file);
  const writer = peers.find(({ facts }) => facts.isWriter);
  if (writer !== undefined) await ask(writer.socket, { op: 'release' }, signal);
}

/** What is said of records that were forgotten. */
export interface ForgottenFacts extends UpdateResult {
  filesWith: string[] | undefined;
  histories: QuotingHistory[];
  /** Processes that have the knowledge base open and do not answer: they lose the records when they go on. */
  unreached: number[];
}

/** Forgets records in the process itself. */
export type ForgetHere = () => Promise<UpdateResult & { texts: string[]; filesWith: string[] | undefined }>;

/**
 * Forgets records through a process that has the knowledge base open, else by `here`, and in the memory of all others.
 * @throws as KnowledgeBase.forget()
 */
export async function forgetEverywhere(
  file: string,
  ids: readonly string[],
  { verify, histories }: { verify: boolean; histories: boolean },
  here: ForgetHere,
  signal: AbortSignal,
): Promise<ForgottenFacts> {
  const { peers, unreached } = await processesOf(file);
  const through = peers.find(({ facts }) => facts.isWriter) ?? peers.find(({ facts }) => !facts.readOnly);
  const done =
    through === undefined
      ? await here()
      : await ask(through.socket, { op: 'forget', ids, verify, histories }, signal);
  const { texts, filesWith, ...result } = done;
  const quoting: QuotingHistory[] = 'histories' in done ? (done.histories as QuotingHistory[]) : [];
  for (const { socket } of peers) {
    if (socket === through?.socket) continue;
    for (const [at, some] of piecesOf(texts).entries()) {
      const request = { op: 'drop', ids: at === 0 ? ids : [], texts: some, histories } as const;
      const dropped = await ask(socket, request, signal).catch(ended);
      quoting.push(...(dropped?.histories ?? []));
    }
  }
  return { ...result, filesWith, histories: quoting, unreached };
}

/** Most characters of texts in one request: each takes at most six bytes of JSON, and the rest is for the ids. */
const pieceCharacters = 16 * 1024 * 1024;

/** Cuts a list into one or more pieces that a request can carry: a record has at most 16 MiB. */
export function piecesOf(texts: readonly string[], longest: number = pieceCharacters): string[][] {
  let piece: string[] = [];
  const pieces = [piece];
  let room = longest;
  for (const text of texts) {
    if (text.length > room && piece.length > 0) {
      piece = [];
      pieces.push(piece);
      room = longest;
    }
    piece.push(text);
    room -= text.length;
  }
  return pieces;
}

/** A process that ended meanwhile has forgotten, too. @throws other errors */
function ended(error: unknown): undefined {
  if (endedCode(error) === undefined) throw error;
}
