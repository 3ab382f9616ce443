import type { RegisteredNode } from '../../node-schema.js';
import { schema } from './schema.js';

export const remember = {
  ...schema,
  load: async () => (await import('./node.js')).node,
} as const satisfies RegisteredNode;
