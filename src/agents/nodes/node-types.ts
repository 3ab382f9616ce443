import type { NodeType } from '../node.js';
import { retrieve } from './retrieve.js';

/** Every type that a graph's node may have. */
export const nodeTypes: ReadonlyMap<string, NodeType> = new Map([['retrieve', retrieve]]);
