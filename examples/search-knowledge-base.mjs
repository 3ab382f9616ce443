import { CatalogModels, openKnowledgeBase } from 'lorekeep/knowledge-base';

const models = await CatalogModels.open();
const kb = await openKnowledgeBase(process.argv[2], { models });
const { hits } = await kb.search({ text: process.argv[3] });
for (const { id, text } of hits) console.log(`${id}: ${text}`);
