// What the clients of other languages are generated from: requests, frames and their objects with names, from the JSON Schema of the protocol.

/** Names of objects whose field does not name them well, by the place where they first occur. */
const names = {
  'GenerateParams.knowledge': 'KnowledgePlacement',
  'GenerateParams.history': 'HistoryLimit',
  'GenerateParams.actions': 'ActionDefinition',
  'RetrieveParams.scores': 'Scores',
  'Rrf.weights': 'Weights',
  'CreateAgentRequest.history': 'History',
  'Turn.action': 'PastAction',
  'CreateSessionResponse.agents': 'KeptAgent',
  'KeptAgent.error': 'ErrorFields',
  'CreateEmbeddedStringStorageRequest.fields': 'FieldDefinition',
  'GetEmbeddedStringStorageResponse.records': 'StoredRecord',
  'ForgetEmbeddedStringStorageResponse.histories': 'QuotingHistory',
  'Hit.context': 'HitContext',
  'HitContext.before': 'ContextRecord',
  'RetrievalPlan.dense': 'DensePlan',
  'RetrievalPlan.lexical': 'LexicalPlan',
  'RetrievalPlan.fusion': 'FusionPlan',
  'FusionPlan.weights': 'FusionWeights',
  'RetrievalPlan.rerank': 'RerankReport',
  'SearchEmbeddedStringStorageResponse.plan': 'RetrievalPlan',
  'SearchEmbeddedStringStorageResponse.plans': 'StoragePlan',
  'CreateAgentResponse.memories': 'MadeMemory',
  'ListModelsResponse.memory': 'DeviceMemory',
  'StatusResponse.client': 'MemoryBudget',
  'TurnComplete.hits': 'TurnHit',
  'TurnComplete.action': 'RequestedAction',
  'TurnComplete.memory': 'MemoryReport',
  'DryRun.tokens': 'PromptTokens',
  'DryRun.messages': 'PromptMessage',
  'TurnComplete.diagnostics': 'Diagnostics',
  'Diagnostics.nodes': 'NodeDiagnostics',
  'Diagnostics.speech': 'SpeechDiagnostics',
  'Diagnostics.interaction': 'Component',
  'DebugInfo.nodes': 'NodeDebugInfo',
  'NodeDebugInfo.diagnostics': 'EngineDiagnostics',
};

/** Calls of clients whose name does not follow from the request's. */
const calls = {
  UpdateEmbeddedStringStorageRequest: 'update_records',
  GetEmbeddedStringStorageRequest: 'get_records',
  ListEmbeddedStringStorageRequest: 'list_records',
  ForgetEmbeddedStringStorageRequest: 'forget_records',
  SearchEmbeddedStringStorageRequest: 'search',
  ThrottleReport: 'report_throttle',
  VideoMemoryRequest: 'allow_video_memory',
  TurnRequest: 'start_turn',
};

/** Requests whose call returns an object of the client, which is written by hand. */
const wrapped = new Set(['CreateSessionRequest', 'CreateAgentRequest', 'TurnRequest', 'OpenSpeechRequest']);

/** Types of the clients that are written by hand. */
const ofClients = ['Client', 'Session', 'Agent', 'Speech', 'Event', 'Value', 'Options'];

export const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
export const snake = (name) => name.replace(/(?<=[a-z0-9])([A-Z])/g, '_$1').toLowerCase();
const singular = (name) => name.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

/** Returns the requests, frames, objects and errors. `schema`: the parsed protocol.schema.json; `errors`: the table of codes. */
export function protocolModel(schema, errors, version) {
  const { $defs } = schema;
  const listed = (union) => $defs[union].oneOf.map(({ $ref }) => $ref.split('/').at(-1));
  const [requestNames, frameNames] = [listed('Request'), listed('ServerFrame')];
  const builder = new Builder([...frameNames, ...ofClients]);
  for (const [name, definition] of Object.entries($defs))
    if (name.endsWith('Params')) builder.object(definition, name, '');
  const requests = requestNames.map((name) => {
    const base = name.replace(/Request$/, '');
    const fields = builder.fields($defs[name], name).filter((field) => !['type', 'id'].includes(field.name));
    const response = `${base}Response`;
    const reply = { TurnRequest: 'TurnStarted', Ping: 'Pong' }[name];
    return {
      name,
      fieldsName: `${base}Fields`,
      call: calls[name] ?? snake(base),
      wrapped: wrapped.has(name),
      ofSession: fields.some((field) => field.name === 'session_id'),
      fields: fields.filter((field) => field.name !== 'session_id'),
      reply: reply ?? (frameNames.includes(response) ? response : 'Ack'),
    };
  });
  const frames = frameNames.map((name) => ({ name, fields: builder.fields($defs[name], name) }));
  const table = Object.entries(errors).map(([code, row]) => ({ code: Number(code), ...row }));
  if (requests.length === 0 || frames.length === 0 || table.length === 0)
    throw new Error('no frames were seen');
  return { version, requests, frames, objects: builder.objects, errors: table };
}

/** Types are {kind}: string, int, number, bool, any; enum with `values`; map, list and nullable with `of`; object with `name`; union with `options`. */
class Builder {
  /** In an order in which each comes after those it consists of. */
  objects = [];
  #byShape = new Map();
  #reserved;

  /** `reserved`: names that no object may have. */
  constructor(reserved) {
    this.#reserved = new Set(reserved);
  }

  fields({ properties, required = [] }, parent) {
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      description: schema.description,
      required: required.includes(name),
      type: this.type(schema, `${parent}.${name}`),
    }));
  }

  /** Names an object; one with the same fields keeps its first name. */
  object(schema, name, place) {
    const shape = shapeOf(schema);
    const known = this.#byShape.get(shape);
    if (known !== undefined) return { kind: 'object', name: known };
    const taken = (wanted) => this.#reserved.has(wanted) || [...this.#byShape.values()].includes(wanted);
    if (taken(name)) throw new Error(`${place}: another type is named ${name}; name this one in model.mjs`);
    this.#byShape.set(shape, name);
    const fields = this.fields(schema, name);
    this.objects.push({ name, description: schema.description, fields });
    return { kind: 'object', name };
  }

  type(schema, place) {
    const field = place.split('.').at(-1);
    const options = schema.oneOf ?? schema.anyOf;
    if (options !== undefined && schema.properties === undefined) return this.#union(options, place);
    if ('const' in schema) return { kind: 'enum', values: [schema.const] };
    if (schema.enum !== undefined) return { kind: 'enum', values: schema.enum };
    switch (schema.type) {
      case 'string':
        return { kind: 'string' };
      case 'boolean':
        return { kind: 'bool' };
      case 'integer':
        return { kind: 'int' };
      case 'number':
        return { kind: 'number' };
      case 'null':
        return { kind: 'null' };
      case 'array': {
        const items = schema.prefixItems?.[0] ?? schema.items ?? {};
        return { kind: 'list', of: this.type(items, place) };
      }
      case 'object': {
        if (schema.properties !== undefined) {
          const constant = Object.entries(schema.properties).find(
            ([, { const: value }]) => value !== undefined,
          );
          const kind =
            constant !== undefined && typeof constant[1].const === 'string' ? constant[1].const : '';
          return this.object(schema, pascal(kind) + (names[place] ?? pascal(singular(field))), place);
        }
        const value = schema.additionalProperties ?? {};
        return { kind: 'map', of: typeof value === 'object' ? this.type(value, place) : { kind: 'any' } };
      }
      case undefined:
        return { kind: 'any' };
      default:
        throw new Error(`${place}: no type for ${JSON.stringify(schema.type)}`);
    }
  }

  #union(options, place) {
    const types = options.map((option) => this.type(option, place));
    const rest = types.filter(({ kind }) => kind !== 'null');
    const flat = rest.flatMap((type) => (type.kind === 'union' ? type.options : [type]));
    const distinct = [...new Map(flat.map((type) => [JSON.stringify(type), type])).values()];
    const type = distinct.length === 1 ? distinct[0] : { kind: 'union', options: distinct };
    return rest.length < types.length ? { kind: 'nullable', of: type } : type;
  }
}

/** The text of a schema without descriptions. */
function shapeOf(schema) {
  return JSON.stringify(schema, (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
}
