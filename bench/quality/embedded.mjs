// A collection's embeddings, kept in .cache/bench/quality between runs by the model's fingerprint.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { embedFirstWindows } from './embedding.mjs';

/** Row-major vectors of the documents and of the queries. `prefixes`: {query, document}. */
export async function embeddedCollection(model, collection, prefixes) {
  const { name, folder, documents, queries } = collection;
  const rows = (part, prefix, items) =>
    keptVectors(
      model,
      part,
      items.map(({ text }) => prefix + text),
    );
  return {
    documentVectors: await rows(`${folder}-documents`, prefixes.document, documents),
    queryVectors: await rows(`${name}-queries`, prefixes.query, queries),
  };
}

async function keptVectors(model, part, texts) {
  const name = `${model.facts.fingerprint}-${part.replaceAll('/', '-')}.f32`;
  const path = cached('quality', name);
  const size = texts.length * model.dimension;
  if (existsSync(path)) {
    const bytes = readFileSync(path);
    const found = new Float32Array(Uint8Array.from(bytes).buffer);
    if (found.length === size) return found;
  }
  const { vectors } = await embedFirstWindows(model, texts);
  writeFileSync(path, Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength));
  return vectors;
}
