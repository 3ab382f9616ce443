import { LorekeepError } from '../../lib/errors.js';
import { JsonSyntaxError, JsonText } from '../schema/json-text.js';
import { readText } from './read-text.js';

/**
 * A JSON file that people write, whose value may be walked.
 * @throws LorekeepError as readText(); CORRUPT for what is not JSON, INVALID_ARGUMENT for a key that occurs twice and for a value
 * nested too deeply; with file, line and column in the message
 */
export async function readJson(path: string, mostBytes?: number): Promise<JsonText> {
  const json = parse(path, await readText(path, mostBytes));
  const shape = json.shapeProblem();
  if (shape === undefined) return json;
  throw new LorekeepError('INVALID_ARGUMENT', `${path}${shape.place}: ${shape.what}`, {
    file: path,
    reason: shape.what,
  });
}

function parse(path: string, text: string): JsonText {
  try {
    return new JsonText(text);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    const { line, column } = cause.position;
    const reason = `not valid JSON: ${cause.message}`;
    const message = `${path}:${line}:${column}: ${reason}`;
    throw new LorekeepError('CORRUPT', message, { file: path, line, reason }, { cause });
  }
}
