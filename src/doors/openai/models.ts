import { z } from 'zod';
import type { Route } from '../http/route.js';
import type { Targets } from './targets.js';

const modelSchema = z.object({
  id: z.string().describe('Its name, for `model`.'),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  kind: z.string().describe('`agent`, `storage`, `llm`, `embedding` or `reranker`.'),
});

/** The server does not know when its models were made. */
const created = 0;

export function modelRoutes(targets: Targets): readonly Route[] {
  const shown = ({ name, kind }: { name: string; kind: string }) => ({
    id: name,
    object: 'model' as const,
    created,
    owned_by: 'lorekeep',
    kind,
  });
  return [
    {
      method: 'GET',
      path: '/v1/models',
      right: 'any',
      operation: 'list_models',
      summary: 'Lists agents, knowledge bases and models.',
      reply: z.object({ object: z.literal('list'), data: z.array(modelSchema) }),
      serve: (exchange) => exchange.sendJson({ object: 'list', data: targets.list.map(shown) }),
    },
    {
      method: 'GET',
      path: '/v1/models/{model}',
      right: 'any',
      operation: 'get_model',
      summary: 'Describes one of them.',
      reply: modelSchema,
      serve: (exchange) => {
        const { model = '' } = exchange.params;
        const found = targets.list.find(({ name }) => name === model);
        return exchange.sendJson(
          shown(
            found ??
              targets.refuse(
                model,
                targets.list.map(({ name }) => name),
              ),
          ),
        );
      },
    },
  ];
}
