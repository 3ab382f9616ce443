import type { Catalog } from '../catalog.js';
import type { CatalogEntry, ModelVariant } from '../schema.js';
import { Peers } from './circuit-breaker.js';
import { RemoteEmbeddingModel } from './embedding-model.js';
import { RemoteLanguageModel } from './language-model.js';
import { RemoteServer } from './remote-server.js';
import { RemoteReranker } from './reranker.js';
import type { RemoteSettings } from './settings.js';

const peers = new WeakMap<Catalog, Peers>();

/** Returns the servers of a catalog's remote models. */
export function peersOf(catalog: Catalog): Peers {
  const known = peers.get(catalog) ?? new Peers();
  peers.set(catalog, known);
  return known;
}

/** Returns the client of a variant's server. @throws RemoteModelError for its secret and its certificates */
export function openServer(catalog: Catalog, name: string, remote: RemoteSettings): Promise<RemoteServer> {
  return RemoteServer.open(
    { name, file: catalog.file },
    remote,
    (file) => catalog.resolveFile(file),
    peersOf(catalog),
  );
}

/** Asks the server of a remote variant for as little as possible. @throws RemoteModelError; the signal's reason */
export async function probeRemote(
  catalog: Catalog,
  { name, model_type }: Pick<CatalogEntry, 'name' | 'model_type'>,
  { remote, context_size: contextSize = 0 }: ModelVariant,
  signal: AbortSignal,
): Promise<void> {
  const server = await openServer(catalog, name, remote as RemoteSettings);
  try {
    if (model_type === 'embedding') await RemoteEmbeddingModel.open(server, { contextSize, signal });
    else if (model_type === 'reranker')
      await new RemoteReranker(server, contextSize).rank('tide', ['the tide', 'a bee'], { signal });
    else {
      const request = { messages: [{ role: 'user', content: 'Say yes.' }], maxTokens: 1 } as const;
      await new RemoteLanguageModel(server, contextSize).generate(request, { signal }).result;
    }
  } finally {
    await server.close();
  }
}
