import { z } from 'zod';
import { uncheckedArray } from '../../base/schema/bounded.js';
import { kindNames } from '../../models/file-kind.js';
import type { Exchange } from '../http/exchange.js';
import { HttpRefusal } from '../http/failure.js';
import type { Route } from '../http/route.js';
import { optional } from './fields.js';
import type { Targets } from './targets.js';

/** Most texts of one request, as in the API of OpenAI. */
const maxInputs = 2048;

/** Texts embedded in one turn of the client: other clients wait for no longer than these take. */
const textsPerTurn = 32;

/** Texts; ids of tokens, and arrays of them, are refused in words. */
const text = z.string().meta({ minLength: 1 });

const inputs = uncheckedArray(text, 1, maxInputs);

export const embeddingsBody = z.object({
  model: z.string().min(1).max(128).describe('An embedding model of /v1/models.'),
  input: z
    .union([text, inputs], {
      error: 'a text, or an array of 1 to 2048 texts, is expected',
    })
    .describe('A text or several.'),
  encoding_format: optional(z.enum(['float', 'base64'])).describe('`base64`: 32-bit floats, little-endian.'),
  dimensions: optional(z.int().min(1)).describe("Only the model's own number."),
  input_type: optional(z.enum(['query', 'document'])).describe(
    "Adds the catalog's prefix of queries or documents. Default: none.",
  ),
});

const replySchema = z.object({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

export function embeddingsRoute(targets: Targets): Route {
  return {
    method: 'POST',
    path: '/v1/embeddings',
    right: 'search',
    operation: 'create_embeddings',
    summary: 'Embeds texts, as the API of OpenAI does.',
    body: embeddingsBody,
    reply: replySchema,
    serve: (exchange) => embed(exchange, targets),
  };
}

async function embed(exchange: Exchange, targets: Targets): Promise<void> {
  const body = await exchange.body(embeddingsBody);
  const { host, session, client } = exchange;
  const { signal } = session;
  const texts = textsOf(body.input);
  const known = targets.namesOf('embedding');
  if (!known.includes(body.model)) targets.refuse(body.model, known, kindNames.embedding);
  const model = await host.models.resolve(body.model);
  const { dimension, queryPrefix, documentPrefix } = model;
  if (body.dimensions !== undefined && body.dimensions !== dimension) {
    const message = `dimensions: ${JSON.stringify(body.model)} makes embeddings of ${dimension} numbers and cannot shorten them`;
    throw new HttpRefusal(400, 'invalid_field', message, 'dimensions');
  }
  const prefix = { query: queryPrefix, document: documentPrefix, none: '' }[body.input_type ?? 'none'];
  const sending = await client.account.send(signal);
  try {
    const numbers = texts.length * dimension;
    const asFloats = body.encoding_format !== 'base64';
    await sending.reserve({ heap: numbers * (asFloats ? 12 : 6), native: numbers * 4 }, signal);
    using lease = await model.lease(signal);
    const data: object[] = [];
    let promptTokens = 0;
    for (let at = 0; at < texts.length; at += textsPerTurn) {
      const piece = texts.slice(at, at + textsPerTurn).map((text) => prefix + text);
      await client.account.compute('build', signal, async () => {
        const { vectors, errors, tokens: counted = 0 } = await lease.model.embedSettled(piece, { signal });
        const [failed] = errors;
        if (failed !== undefined) throw textError(failed, at + failed.index, typeof body.input === 'string');
        promptTokens += counted;
        for (let row = 0; row < piece.length; row++) {
          const vector = vectors.subarray(row * dimension, (row + 1) * dimension);
          data.push({
            object: 'embedding',
            index: at + row,
            embedding: asFloats ? Array.from(vector) : base64(vector),
          });
        }
      });
      await client.account.loop.nextSlice();
    }
    const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
    await exchange.sendJson({ object: 'list', model: body.model, data, usage });
  } finally {
    sending.end();
  }
}

function textsOf(input: z.output<typeof embeddingsBody>['input']): readonly string[] {
  if (typeof input === 'string') return checkedTexts([input], () => 'input');
  if (!input.every((each) => typeof each === 'string'))
    throw new HttpRefusal(
      400,
      'invalid_field',
      'input: texts are expected; ids of tokens are not supported',
      'input',
    );
  return checkedTexts(input as string[], (index) => `input[${index}]`);
}

function checkedTexts(texts: readonly string[], where: (index: number) => string): readonly string[] {
  const empty = texts.indexOf('');
  if (empty >= 0)
    throw new HttpRefusal(
      400,
      'invalid_field',
      `${where(empty)}: is empty; a text is expected`,
      where(empty),
    );
  return texts;
}

function textError(
  { code, message }: { code: string; message: string },
  index: number,
  single: boolean,
): HttpRefusal {
  const where = single ? 'input' : `input[${index}]`;
  const name = code === 'TEXT_TOO_LONG' ? 'context_length_exceeded' : 'invalid_field';
  return new HttpRefusal(400, name, `${where}: ${message}`, where);
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}
