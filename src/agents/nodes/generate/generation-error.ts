import { AbortError, LorekeepError } from '../../../../lib/internal.js';
import { ModelLoadError } from '../../../models/model-load-error.js';
import { serverError } from '../../../protocol/errors.js';

/** The params behind the fields of a request to the engine. */
const paramOf: Readonly<Record<string, string>> = {
  schema: 'json_schema',
  grammar: 'grammar',
  stop: 'stop',
  sampling: 'temperature',
  quotes: 'cite',
};

/** Converts an error of the engine. `where`: the node's place in the graph. Other errors are returned unchanged. */
export function generationError(error: unknown, where: string): unknown {
  if (!(error instanceof LorekeepError) || error instanceof AbortError) return error;
  // Of another server: it has words for clients.
  if (error instanceof ModelLoadError) return error;
  const { code, message } = error;
  if (code === 'OUT_OF_MEMORY' || code === 'DEVICE_LOST') return error;
  if (code === 'CLOSED') return serverError(1008, 'the server is stopping', {}, { cause: error });
  if (code === 'INVALID_ARGUMENT') {
    const { field = '', reason = message, pointer } = error.detail;
    const param = paramOf[field];
    if (param !== undefined) {
      const path = `${where}.params.${param}`;
      return serverError(4003, `${path}: ${reason}`, { path, pointer }, { cause: error });
    }
  }
  return serverError(5006, message, {}, { cause: error });
}
