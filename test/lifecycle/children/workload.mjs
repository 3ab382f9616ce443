// What the children do, step by step. Each step returns what the next one needs.
import { EmbeddingModel, Storage, TextIndex, VectorIndex } from 'lorekeep';

export const dimension = 64;

/** Rows that differ, of unit length or not: the index normalises. */
export function rows(count) {
  return Float32Array.from({ length: count * dimension }, (_, i) => (Math.sin(i * 12.9898) * 43758.5453) % 1);
}

export const texts = Array.from(
  { length: 1000 },
  (_, i) => `text number ${i} about word${i % 97} and word${i % 31}`,
);

export const records = texts.slice(0, 200).map((text, i) => ({ id: `${i}`, text }));

/** name -> starts the step and returns its promise. `state` collects what was made. */
export const steps = {
  'vector build': async (state) => {
    state.vectors = await VectorIndex.build(rows(2500), dimension);
  },
  'vector search': (state) => state.vectors.searchMany(rows(1000), { k: 10, ef: 200 }),
  'vector save': (state) => state.vectors.save(`${state.folder}/vectors.lkvec`),
  'vector load': (state) => VectorIndex.load(`${state.folder}/vectors.lkvec`),
  'text build': async (state) => {
    state.texts = await TextIndex.build(texts);
  },
  'text search': (state) => state.texts.search('text word3 word5'),
  'model load': async (state) => {
    state.model = await EmbeddingModel.load(state.modelPath);
  },
  embed: (state) => state.model.embed(texts),
  'storage build': async (state) => {
    const vectors = await state.model.embed(records.map((record) => record.text));
    state.storage = await Storage.build(records, vectors, state.model.dimension);
  },
  'storage search': async (state) => {
    const vector = await state.model.embed('word7');
    return state.storage.search({ mode: 'hybrid', vector, text: 'word7' });
  },
};
