import { z } from 'zod';
import { sharedComponents } from '../../protocol/components.js';
import {
  type ServerFrame as BaseFrame,
  serverSchemas as baseSchemas,
  nodeDiagnosticsSchema,
  turnCompleteSchema,
} from '../../protocol/frames.js';
import * as registry from './registry.js';

type Schemas = (typeof registry)[keyof typeof registry];
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

const schemas: readonly Schemas[] = Object.values(registry);

/** Every component that a turn of this server may have, told apart by `_type`. */
export const componentSchema = z.discriminatedUnion('_type', [
  ...sharedComponents,
  ...(schemas.flatMap(({ components }) => [...components]) as Schemas['components'][number][]),
]);

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What all types of nodes tell about a run; each description begins with the types that do. */
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

/** The protocol's frames, with what the node types add to them. */
export const serverSchemas = {
  ...baseSchemas,
  TurnComplete: turnCompleteSchema(z.object({ ...nodeDiagnosticsSchema.shape, ...reports }), componentSchema),
};

export type Component = z.output<typeof componentSchema>;
export type ServerFrames = {
  [Type in keyof typeof serverSchemas]: z.output<(typeof serverSchemas)[Type]>;
};
export type TurnDiagnostics = NonNullable<ServerFrames['TurnComplete']['diagnostics']>;
export type ServerFrame = ServerFrames[BaseFrame['type']];

/** Params by type of node. */
export const nodeParams: Readonly<Record<string, z.ZodObject>> = Object.fromEntries(
  schemas.map(({ type, params }) => [type, params]),
);
