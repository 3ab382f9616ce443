// Embeds a file's paragraphs, indexes them, and answers a question by meaning and by words.
// node search.mjs [file] [question]
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { EmbeddingModel, TextIndex, VectorIndex } from 'lorekeep';

const inPackage = (path) => fileURLToPath(new URL(path, import.meta.resolve('lorekeep/package.json')));
const file = process.argv[2] ?? inPackage('examples/lighthouse.txt');
const question = process.argv[3] ?? 'Who stays awake at night?';
const paragraphs = (await readFile(file, 'utf8')).split(/\n\s*\n/).filter((text) => /^[A-Z].{40}/.test(text));

// A model that comes with the package; any other GGUF embedding model will do.
const model = await EmbeddingModel.load(inPackage('data/models/all-MiniLM-L6-v2.gguf'));
const vectors = await VectorIndex.build(await model.embed(paragraphs), model.dimension);
const words = await TextIndex.build(paragraphs);

const near = await vectors.search(await model.embed(question), { k: 3 });
const matching = await words.search(question, { k: 3 });
const show = (score, row) => console.log(score.toFixed(3), paragraphs[row].replace(/\s+/g, ' ').slice(0, 90));
for (const [rank, row] of near.ordinals.entries()) show(near.distances[rank], row);
for (const [rank, row] of matching.ordinals.entries()) show(matching.scores[rank], row);
await model.close();
