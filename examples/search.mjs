// Embeds a file's paragraphs, indexes them, and answers a question by meaning and by words.
// node examples/search.mjs [file] [question]
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddingModel, TextIndex, VectorIndex } from 'lorekeep';
import { createTinyModel } from 'lorekeep/tiny-model';

const file = process.argv[2] ?? new URL('../docs/protocol.md', import.meta.url);
const question = process.argv[3] ?? 'Which replies may come in any order?';
const paragraphs = (await readFile(file, 'utf8')).split(/\n\s*\n/).filter((text) => /^[A-Z].{40}/.test(text));

const path = join(tmpdir(), `lorekeep-example-${process.pid}.gguf`); // any GGUF embedding model will do
await createTinyModel({ texts: paragraphs, path });
const model = await EmbeddingModel.load(path);
const vectors = await VectorIndex.build(await model.embed(paragraphs), model.dimension);
const words = await TextIndex.build(paragraphs);

const near = await vectors.search(await model.embed(question), { k: 3 });
const matching = await words.search(question, { k: 3 });
const show = (score, row) => console.log(score.toFixed(3), paragraphs[row].replace(/\s+/g, ' ').slice(0, 90));
for (const [rank, row] of near.ordinals.entries()) show(near.distances[rank], row);
for (const [rank, row] of matching.ordinals.entries()) show(matching.scores[rank], row);
await model.close();
await rm(path);
