import { boolean, fieldFacts, integer, nonEmptyText, object } from './field-types.js';

const extension = { extension: true } as const;

export const metricsSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Serves `/metrics`, `/health` and `/ready` over HTTP.')
    .register(fieldFacts, extension),
  bind: nonEmptyText()
    .default('127.0.0.1')
    .describe('Address that they are served on.')
    .register(fieldFacts, extension),
  port: integer(0, 65_535)
    .default(9102)
    .describe('HTTP port; 0: any free port.')
    .register(fieldFacts, extension),
  allow_remote: boolean()
    .default(false)
    .describe('Allows access from other machines.')
    .register(fieldFacts, extension),
}).prefault({});
