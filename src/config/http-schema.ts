import {
  boolean,
  fieldFacts,
  integer,
  list,
  map,
  nonEmptyText,
  object,
  origin,
  text,
} from './field-types.js';

const extension = { extension: true } as const;
const path = { path: true, extension: true } as const;

export const httpSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Opens the HTTP doors: REST, the API of OpenAI, MCP, WebSocket. docs/guides/http.md.')
    .register(fieldFacts, { flag: '--http', ...extension }),
  bind: nonEmptyText()
    .default('127.0.0.1')
    .describe('Address that they listen on.')
    .register(fieldFacts, extension),
  port: integer(0, 65_535)
    .default(9103)
    .describe('HTTP port; 0: any free port.')
    .register(fieldFacts, { flag: '--http-port <n>', ...extension }),
  page: boolean()
    .default(false)
    .describe(
      'Opens the HTTP doors with a page for people at `/`: search, answers, documents. docs/guides/page.md.',
    )
    .register(fieldFacts, { flag: '--page', ...extension }),
  allow_remote: boolean()
    .default(false)
    .describe(
      'Allows access from other machines of the local network. Needs `keys_file` or `access_token_file`.',
    )
    .register(fieldFacts, extension),
  tls_cert: text()
    .default('')
    .describe('PEM file of the certificate and its chain; empty: no TLS.')
    .register(fieldFacts, path),
  tls_key: text()
    .default('')
    .describe("PEM file of the certificate's private key.")
    .register(fieldFacts, path),
  keys_file: text()
    .default('')
    .describe('File with named keys and their rights; empty: only the access token counts.')
    .register(fieldFacts, path),
  agents: map(nonEmptyText())
    .default({})
    .describe('Agents that the doors show: name to the file of the graph. Clients use the name as `model`.')
    .register(fieldFacts, { namedPaths: true, ...extension }),
  storages: map(
    object({
      config: nonEmptyText(),
      writable: boolean().default(false),
      watch: boolean().default(false),
    }),
  )
    .default({})
    .describe(
      'Knowledge bases that the doors show: name to `{"config": "kb.json"}`. No door shows another file. With `"writable": true` and `storage_writes` `"files"`, keys with the right `write` may change it. With `"watch": true`, the server keeps an index that `lorekeep index` made current with its folder.',
    )
    .register(fieldFacts, { namedPaths: true, ...extension }),
  cors_origins: list(origin())
    .default([])
    .describe(
      'Origins of web pages that may call the doors, such as `"https://app.example"`. `"null"` needs a key.',
    )
    .register(fieldFacts, extension),
}).prefault({});
