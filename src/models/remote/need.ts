import type { MemoryNeed } from '../model-memory.js';
import type { RemoteSettings } from './settings.js';

/** An answer in memory: its bytes and what is parsed of them. */
const answerBytes = 4 * 1024 * 1024;

/** Returns the memory that the calls of a remote model take at most, all at once. */
export const remoteNeed = ({ parallel, batch_bytes }: RemoteSettings): MemoryNeed => ({
  CPU: parallel * (batch_bytes + answerBytes),
});
