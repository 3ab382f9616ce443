/** `lorekeep/tiny-model`: a deterministic embedding model made from the texts that it is to embed. */
export { type GgufValue, GgufWriter, type TensorType } from './gguf-writer.js';
export { createTinyModel, type TinyModelFacts, type TinyModelOptions } from './tiny-model.js';
export type { VocabularyLimits } from './wordpiece-vocabulary.js';
