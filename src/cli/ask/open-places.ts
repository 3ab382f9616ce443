import { CommandError } from '../failure.js';
import { storageName } from './answering-graph.js';
import { openHere } from './here.js';
import type { Opened, OpenFlags } from './opened.js';
import { placeOf } from './place.js';
import type { Places } from './places.js';
import { reach } from './reach.js';

/** Opens the places of `ask` and `chat`; undefined: no knowledge. @throws CommandError, StartupError; the signal's reason */
export async function openPlaces(
  places: Places | undefined,
  flags: OpenFlags,
  signal: AbortSignal,
): Promise<Opened> {
  if (places !== undefined && 'here' in places) return openHere(places.here, flags, signal);
  const client = await reach(flags, signal);
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

function openFailure(error: unknown, kb: string): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== 3010) return error;
  const nowhere = `${kb}: there is no such file here, nor in the server's storage root (${message})`;
  return new CommandError('NOT_FOUND', nowhere, { cause: error });
}
