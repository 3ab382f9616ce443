import { ServerError } from '../../protocol/errors.js';

/** A refusal by the door itself, which the client's model reads. */
export class McpRefusal extends Error {
  override readonly name = 'McpRefusal';
}

/** Returns the sentence about an error that does not come from a request. */
export type Explain = (error: unknown) => string;

/** The sentence about an error, in the words of the tools' arguments. */
export function told(error: unknown, explain: Explain): string {
  if (error instanceof McpRefusal) return error.message;
  if (!(error instanceof ServerError)) return explain(error);
  const { path } = error.details as { path?: unknown };
  return typeof path === 'string' ? error.messageAbout(argumentOf(path)) : error.message;
}

/** The argument of a tool for the path of a frame's field. */
function argumentOf(path: string): string {
  if (/^names?(\[\d+\])?$/.test(path)) return 'storage';
  if (path === 'text') return 'query';
  return path.replace(/^add\[0\]\.?|^graph\.nodes\[\d+\]\.params\./, '') || 'id';
}
