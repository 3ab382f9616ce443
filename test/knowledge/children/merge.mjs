// Merges a knowledge base. argv: config, model
import { EmbeddingModel } from '../../../dist/lib/index.js';
import { openKnowledgeBase } from '../../../dist/src/knowledge/index.js';

const [config, file] = process.argv.slice(2);
const model = await EmbeddingModel.load(file);
const kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
await kb.merge();
await kb.close();
process.exit(0);
