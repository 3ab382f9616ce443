// Texts of corpus-large as a model of the package embeds them: real embeddings. Cached, since it takes minutes.
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { cached, dataFolder } from '../harness/cache.mjs';
import { EmbeddingModel } from '../lorekeep.mjs';
import { writeRows } from './sets.mjs';

const mini = 'lorekeep-mini';
const charactersOfText = 600;
const textsPerCall = 1000;

/** Texts from all of the corpus, evenly; the last of them are the queries. */
export async function embeddedSet({ rows = 30_000, queries = 500, model = mini } = {}) {
  const name = `embedded-${model === mini ? '' : `${model}-`}${rows}-${queries}`;
  const path = cached('vectors', `${name}.f32`);
  const embedder = await EmbeddingModel.load(modelFile(model));
  const { dimension } = embedder;
  if (!existsSync(path)) {
    const texts = await textsOf(rows + queries);
    const all = new Float32Array(texts.length * dimension);
    for (let at = 0; at < texts.length; at += textsPerCall) {
      all.set(await embedder.embed(texts.slice(at, at + textsPerCall)), at * dimension);
    }
    writeRows(path, all);
  }
  await embedder.close();
  return { name, path, rows, queries, dimension };
}

const modelFile = (name) => fileURLToPath(new URL(`../../data/models/${name}.gguf`, import.meta.url));

async function textsOf(count) {
  const all = [];
  const file = createReadStream(join(dataFolder, 'corpus-large.jsonl.gz')).pipe(createGunzip());
  for await (const line of createInterface({ input: file }))
    all.push(JSON.parse(line).text.slice(0, charactersOfText));
  if (all.length < count) throw new Error(`corpus-large holds ${all.length} texts, ${count} are asked for`);
  const step = Math.floor(all.length / count);
  return Array.from({ length: count }, (_, i) => all[i * step]);
}
