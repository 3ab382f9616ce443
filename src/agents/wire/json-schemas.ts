import { z } from 'zod';
import { documentItems } from '../../base/schema/bounded.js';
import { protocolVersion } from '../../protocol/frames.js';
import { componentSchema, nodeParams, requestSchemas, serverSchemas } from './frames.js';

/** Params of the node types by their name in `$defs`: `RetrieveParams`. */
const paramSchemas = Object.fromEntries(
  Object.entries(nodeParams).map(([type, params]) => [
    `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Params`,
    params,
  ]),
);

/** Returns the text of schemas/protocol.schema.json by file name: all frames, for clients in other languages. */
export function jsonSchemas(): Record<string, string> {
  const reference = (name: string) => ({ $ref: `#/$defs/${name}` });
  const union = (description: string, names: string[]) => ({ description, oneOf: names.map(reference) });
  const definitions = { ...requestSchemas, ...serverSchemas, Component: componentSchema, ...paramSchemas };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `lorekeep protocol, version ${protocolVersion}`,
    description: 'The JSON object in a frame of kind 1: a request, or a frame from the server.',
    anyOf: [reference('Request'), reference('ServerFrame')],
    $defs: {
      Request: union('Requests of clients. Unknown fields are refused.', Object.keys(requestSchemas)),
      ServerFrame: union(
        'Frames from the server. Clients ignore fields and frames that they do not know.',
        Object.keys(serverSchemas),
      ),
      ...Object.fromEntries(Object.entries(definitions).map(([name, frame]) => [name, definition(frame)])),
    },
  };
  return { 'protocol.schema.json': `${JSON.stringify(schema, null, 2)}\n` };
}

function definition(schema: z.ZodType): object {
  const options = { io: 'input', unrepresentable: 'any', override: documentItems } as const;
  const { $schema, ...rest } = z.toJSONSchema(schema, options);
  return rest;
}
