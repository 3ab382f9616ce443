import { CatalogModels, createStorage } from 'lorekeep/knowledge-base';

const models = await CatalogModels.open(); // the package contains all-MiniLM-L6-v2
const strings = [
  'The ferry to the mainland leaves on Tuesdays and Fridays at high tide.',
  'Error E-4017 means that the lid of the printer is open.',
];
const storage = await createStorage({ strings, model: await models.resolve('all-MiniLM-L6-v2') });
const { hits } = await storage.search({ text: 'When can I travel to the city?', topK: 1 });
console.log(hits[0].text);
await models.close();
