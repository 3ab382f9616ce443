// Forgets a record of a knowledge base. argv: config, model, id
import { EmbeddingModel } from '../../../dist/lib/index.js';
import { openKnowledgeBase } from '../../../dist/src/knowledge/index.js';

const [config, file, id] = process.argv.slice(2);
const model = await EmbeddingModel.load(file);
const kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
await kb.forget([id]);
await kb.close();
process.exit(0);
