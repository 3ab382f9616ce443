import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { type NextSlice, Slices } from '../../boundary/slices.js';
import { TooMuchWork, Work } from '../languages/work.js';
import { checkSize, refuse } from './schema-checks.js';
import { SchemaWriter } from './schema-writer.js';

interface ConversionOptions {
  name?: string;
  signal?: AbortSignal | undefined;
  /** Of all schemas of one grammar; by default, this one is alone. */
  work?: Work;
  /** Waits for the caller's next piece; by default, for the next turn of the event loop. */
  nextSlice?: NextSlice;
}

/**
 * Returns a GBNF grammar whose texts are JSON values that the schema allows. Properties come in the order of the schema.
 * Rule names begin with `name`, which is the start rule. The work is done in pieces of some 10 ms; each starts when `nextSlice`
 * settles, so that the event loop serves others in between.
 * @throws INVALID_ARGUMENT with `detail.pointer` (JSON pointer) for a keyword that the grammar cannot enforce, for a schema
 * without a value, and for one of hostile size or work; CANCELLED
 */
export async function schemaGrammar(
  schema: unknown,
  { name = 'root', signal, work = new Work(), nextSlice = nextTurnOfLoop }: ConversionOptions = {},
): Promise<string> {
  const slices = new Slices(nextSlice, signal);
  await slices.next();
  checkSize(schema);
  if (slices.over) await slices.next();
  const writer = new SchemaWriter(schema, name, work);
  for (let grammar = nextPiece(writer); ; grammar = nextPiece(writer)) {
    if (grammar !== undefined) return grammar;
    await slices.next();
  }
}

function nextPiece(writer: SchemaWriter): string | undefined {
  try {
    return writer.piece();
  } catch (error) {
    if (error instanceof TooMuchWork) return refuse('', error.message);
    throw error;
  }
}
