import type { NodeType } from '../node.js';
import * as registry from './registry.js';

/** Loads the code of every registered type. */
export async function loadNodeTypes(): Promise<ReadonlyMap<string, NodeType>> {
  const loading = Object.values(registry).map(async ({ type, load }) => [type, await load()] as const);
  return new Map(await Promise.all(loading));
}
