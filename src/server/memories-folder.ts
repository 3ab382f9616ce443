import { resolve } from 'node:path';
import type { ServerConfig } from '../config/schema.js';

/** Absolute path of the folder of the memories that outlive sessions. */
export const memoriesFolder = ({ memories_dir }: Pick<ServerConfig, 'memories_dir'>): string =>
  resolve(memories_dir);
