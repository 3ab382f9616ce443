import { LorekeepError } from '../../../lib/basics.js';
import { JsonSyntaxError, JsonText } from '../schema/json-text.js';
import { readText } from './read-text.js';

/**
 * Reads a hand-written JSON file whose value is safe for recursive code.
 * @throws LorekeepError as readText(); CORRUPT for invalid JSON, INVALID_ARGUMENT for a duplicate key or too deep nesting,
 * with file, line and column in the message
 */
export async function readJson(path: string, maxBytes?: number): Promise<JsonText> {
  const json = parse(path, await readText(path, maxBytes));
  const shape = json.shapeProblem();
  if (shape === undefined) return json;
  throw LorekeepError.about('INVALID_ARGUMENT', { file: path, ...shape.position, reason: shape.what });
}

function parse(path: string, text: string): JsonText {
  try {
    return new JsonText(text);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    const reason = `not valid JSON: ${cause.message}`;
    throw LorekeepError.about('CORRUPT', { file: path, ...cause.position, reason }, { cause });
  }
}
