import type { z } from 'zod';
import type { NodeType } from './node.js';

/** What a type of node adds to the protocol: pure schemas, which clients may import as well. */
export interface NodeSchema {
  /** Its name in a graph, and the name of its folder. */
  readonly type: string;
  readonly params: z.ZodObject;
  /** What diagnostics tell about a run, beside its time; every field is optional. */
  readonly report: Readonly<Record<string, z.ZodOptional>>;
  /** Components that only nodes of this type append. */
  readonly components: readonly z.ZodObject[];
}

/** A type of node as the registry has it: the schemas at once, the code when a server asks for it. */
export interface RegisteredNode extends NodeSchema {
  load(): Promise<NodeType>;
}
