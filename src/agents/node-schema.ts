import type { z } from 'zod';
import type { NodeType } from './node.js';

/** The schemas that a node type adds to the protocol. Free of server code, so that clients may import them. */
export interface NodeSchema {
  /** Name of the type in a graph, and of its folder. */
  readonly type: string;
  readonly params: z.ZodObject;
  /** Fields of the diagnostics of a run, besides its time; all optional. */
  readonly report: Readonly<Record<string, z.ZodOptional>>;
  /** Components appended only by this type. */
  readonly components: readonly z.ZodObject[];
  /** Diagnostics of the engine that a run uses, with a constant `kind`; undefined: it uses none. */
  readonly engine: z.ZodObject | undefined;
  /** Whether its agents remember their turns. Clients then make such an agent again when a connection is replaced. */
  readonly remembers?: true;
}

/** A node type in the registry: its schemas, and its code, loaded on demand. */
export interface RegisteredNode extends NodeSchema {
  load(): Promise<NodeType>;
}
