// The generated places of docs/reference/protocol.md, docs/reference/errors.md and docs/reference/agents.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tool/project.mjs';
import { fieldsTable, jsonFieldsTable, jsonSchema } from './schema-tables.mjs';

const faults = { client: 'the client', operator: 'the operator', server: 'lorekeep' };

/** By file of docs/, then by the name of the place. `load` imports a module of dist/src. */
export async function protocolPlaces(load) {
  const { errorTable } = await load('protocol/errors.js');
  const { requestSchemas } = await load('protocol/frames.js');
  const { hitSchema, retrievalPlanSchema } = await load('protocol/retrieval.js');
  const { searchConfigSchema } = await load('knowledge/search-config.js');
  const { componentSchema, nodeParams, serverSchemas } = await load('agents/wire/frames.js');
  return {
    'reference/errors.md': { errors: errorsTable(errorTable) },
    'reference/knowledge-base-files.md': { search: fieldsTable(searchConfigSchema) },
    'reference/protocol.md': {
      requests: frames(requestSchemas, ['type', 'id']),
      replies: frames(serverSchemas, ['type', 'reply_to']),
      hits: fieldsTable(hitSchema),
    },
    'reference/agents.md': {
      components: components(componentSchema),
      nodes: nodes(nodeParams),
      diagnostics: diagnostics(serverSchemas.TurnComplete, retrievalPlanSchema),
    },
  };
}

function errorsTable(table) {
  const rows = Object.entries(table).map(([code, { name, fault, meaning, remedy }]) => {
    return `| ${code} | ${name} | ${faults[fault]} | ${meaning} | ${remedy} |`;
  });
  return ['| Code | Name | Whose fault | Meaning | What to do |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function frames(schemas, left) {
  return sections(Object.entries(schemas).map(([type, schema]) => [type, fieldsTable(schema, left)]));
}

function components({ options }) {
  return sections(
    options.map((schema) => [jsonSchema(schema).properties._type.const, fieldsTable(schema, ['_type'])]),
  );
}

/**
 * The page of each type's folder, with the table of its params where the page says `<!-- params -->`, and the table of one
 * param's fields where it says `<!-- params NAME -->`.
 */
function nodes(params) {
  return Object.entries(params)
    .map(([type, schema]) => {
      const file = join(root, 'src', 'agents', 'nodes', type, 'docs.md');
      const table = (_, name) =>
        name === undefined
          ? fieldsTable(schema)
          : jsonFieldsTable(objectOf(jsonSchema(schema).properties[name]));
      return readFileSync(file, 'utf8')
        .trim()
        .replaceAll(/<!-- params(?: (\w+))? -->/g, table);
    })
    .join('\n\n');
}

/** The schema of a param's object, or of the items of its array. */
const objectOf = (schema) => schema.items ?? schema;

function diagnostics(turnComplete, planSchema) {
  const { diagnostics: turn, debug_info: debug } = jsonSchema(turnComplete).properties;
  return sections([
    ['diagnostics', jsonFieldsTable(turn)],
    ['diagnostics.nodes[]', jsonFieldsTable(turn.properties.nodes.items)],
    ['diagnostics.nodes[].plan', fieldsTable(planSchema)],
    ...engines(debug.properties.nodes.items.properties.diagnostics.properties.engine),
  ]);
}

function engines({ oneOf }) {
  return oneOf.map((engine) => [
    `debug_info.nodes[].diagnostics.engine of kind ${engine.properties.kind.const}`,
    jsonFieldsTable(engine),
  ]);
}

const sections = (parts) => parts.map(([title, text]) => `#### ${title}\n\n${text}`).join('\n\n');
