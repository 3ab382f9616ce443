export { ChatLorekeep, type ChatLorekeepFields } from './chat-model.js';
export { LorekeepEmbeddings, type LorekeepEmbeddingsFields } from './embeddings.js';
export {
  historyFields,
  LorekeepChatMessageHistory,
  type LorekeepChatMessageHistoryFields,
} from './memory.js';
export { LorekeepRetriever, type LorekeepRetrieverFields } from './retriever.js';
export type { Filter, SearchFields } from './search.js';
export { LorekeepError, type ServerFields } from './server.js';
export { LorekeepVectorStore, type LorekeepVectorStoreFields } from './vector-store.js';
