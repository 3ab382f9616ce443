import { stat } from 'node:fs/promises';
import { commandName } from '../../base/schema/shell-word.js';
import { ConnectionLostError } from '../../client/index.js';
import { CommandError } from '../failure.js';
import { printableLine } from '../terminal/printable.js';
import { storageName } from './answering-graph.js';
import { openHere } from './here.js';
import type { Opened, OpenFlags } from './opened.js';
import { placeOf } from './place.js';
import type { Places } from './places.js';
import { addressOf, reach } from './reach.js';

/** Opens the places of `ask` and `chat`; undefined: no knowledge. @throws CommandError, StartupError; the signal's reason */
export async function openPlaces(
  places: Places | undefined,
  flags: OpenFlags,
  signal: AbortSignal,
): Promise<Opened> {
  if (places !== undefined && 'here' in places) return openHere(places.here, flags, signal);
  const client = await reach(flags, signal).catch(async (error) => {
    throw places === undefined ? error : await unreachedPlace(error, places.there, flags);
  });
  try {
    const { folder, path } = (places && (await placeOf(places.there, flags.host))) ?? {};
    const session = await client.createSession({ storageDataFolder: folder }, { signal });
    const { model } = flags;
    const close = () => client.close();
    const folderOf = () => undefined;
    const common = { session, model, folderOf, hasLanguageModel: true, [Symbol.asyncDispose]: close };
    if (path === undefined) return { ...common, storages: 0, records: 0 };
    const { recordCount } = await session
      .createEmbeddedStringStorage({ name: storageName(0), configPath: path }, { signal })
      .catch((error) => {
        throw openFailure(error, (places as { there: string }).there);
      });
    return { ...common, storages: 1, records: recordCount };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** The failure to reach a server that nobody has named: the user may have meant a place here. */
async function unreachedPlace(error: unknown, place: string, { host, port }: OpenFlags): Promise<unknown> {
  if (host !== undefined || port !== undefined || !(error instanceof CommandError)) return error;
  // Another program may listen there, or a server that refuses this client.
  const lost = error.cause instanceof ConnectionLostError ? error.cause.cause : undefined;
  if ((lost as { code?: unknown } | undefined)?.code !== 'ECONNREFUSED') return error;
  const tried = error.detail as { host: string; port: number };
  const isThere = await stat(place).then(
    () => true,
    () => false,
  );
  const missing = isThere
    ? 'is neither a folder nor a knowledge base (a .json file)'
    : 'there is no folder or file of that name here';
  const remedy = `name a folder or a knowledge base that exists, or start the server that has it: ${commandName()} serve`;
  return new CommandError(
    'NOT_FOUND',
    `${printableLine(place)}: ${missing}, and no server at ${addressOf(tried.host, tried.port)}; ${remedy}`,
    { cause: error },
  );
}

function openFailure(error: unknown, kb: string): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== 3010) return error;
  const nowhere = `${kb}: there is no such file here, nor in the server's storage root (${message})`;
  return new CommandError('NOT_FOUND', nowhere, { cause: error });
}
