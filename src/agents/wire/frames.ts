import { z } from 'zod';
import { sharedComponents } from '../../protocol/components.js';
import {
  type ServerFrame as BaseFrame,
  requestSchemas as baseRequests,
  serverSchemas as baseSchemas,
  nodeDiagnosticsSchema,
  turnCompleteSchema,
} from '../../protocol/frames.js';
import { graphSchema, nodeIdSchema } from '../../protocol/graph.js';
import type { NodeSchema } from '../node-schema.js';
import * as registry from '../nodes/registry.js';

type Schemas = (typeof registry)[keyof typeof registry];
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

const schemas: readonly Schemas[] = Object.values(registry);

/** Every component of this server's turns, discriminated by `_type`. */
export const componentSchema = z.discriminatedUnion('_type', [
  ...sharedComponents,
  ...(schemas.flatMap(({ components }) => [...components]) as Schemas['components'][number][]),
]);

/** The engine's diagnostics of every node type that uses one. */
type Engines = NonNullable<Schemas['engine']>;
const engineSchema = z.discriminatedUnion(
  'kind',
  schemas.flatMap(({ engine }) => (engine === undefined ? [] : [engine])) as unknown as [Engines],
);

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** The diagnostics fields of all node types; each description begins with its types. */
const reports = Object.assign(
  {},
  ...schemas.map(({ type, report }) =>
    Object.fromEntries(
      Object.entries(report).map(([name, field]) => [
        name,
        field.describe(`${type}: ${lowerFirst(field.description ?? '')}`),
      ]),
    ),
  ),
) as Intersection<Schemas['report']>;

type NodeSchemas = { [Name in Schemas as Name['type']]: Name };

/** A node of a graph, with the params of its type. */
const nodeSchema = z.discriminatedUnion(
  'type',
  schemas.map(({ type, params }) =>
    z.strictObject({ id: nodeIdSchema, type: z.literal(type), params: params.optional() }),
  ) as unknown as [z.ZodObject],
);

/** A node may do without params if none of them is required. */
type NodeParams<Params> = Record<never, never> extends Params ? { params?: Params } : { params: Params };

export type NodeInput = {
  [Type in keyof NodeSchemas]: { id: string; type: Type } & NodeParams<z.input<NodeSchemas[Type]['params']>>;
}[keyof NodeSchemas];

/** Client frames, with the params of the node types. The server checks the params after the shape of the graph. */
export const requestSchemas = {
  ...baseRequests,
  CreateAgentRequest: baseRequests.CreateAgentRequest.extend({
    graph: graphSchema
      .extend({ nodes: z.array(nodeSchema).min(1).max(256) })
      .describe(baseRequests.CreateAgentRequest.shape.graph.description ?? ''),
  }),
};

/** Server frames, with the additions of the node types. */
export const serverSchemas = {
  ...baseSchemas,
  TurnComplete: turnCompleteSchema(
    z.object({ ...nodeDiagnosticsSchema.shape, ...reports }),
    componentSchema,
    engineSchema,
  ),
};

export type Component = z.output<typeof componentSchema>;
export type ServerFrames = {
  [Type in keyof typeof serverSchemas]: z.output<(typeof serverSchemas)[Type]>;
};
export type TurnDiagnostics = NonNullable<ServerFrames['TurnComplete']['diagnostics']>;
export type ServerFrame = ServerFrames[BaseFrame['type']];

/** Types whose agents remember their turns. */
export const rememberingTypes: readonly string[] = schemas
  .filter((schema: NodeSchema) => schema.remembers === true)
  .map(({ type }) => type);

/** Param schemas by node type. */
export const nodeParams: Readonly<Record<string, z.ZodObject>> = Object.fromEntries(
  schemas.map(({ type, params }) => [type, params]),
);
