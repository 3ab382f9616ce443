import { WriteStream } from 'node:tty';

/**
 * Whether to write colours to a stream. FORCE_COLOR decides for pipes and files too (0 is no); else the stream is a terminal
 * that has colours, and NO_COLOR, NODE_DISABLE_COLORS and TERM=dumb do not forbid them.
 */
export function hasColours(
  stream: { isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  const { FORCE_COLOR } = environment;
  if (FORCE_COLOR === undefined && stream.isTTY !== true) return false;
  // Node.js warns if NO_COLOR is set besides FORCE_COLOR.
  return WriteStream.prototype.getColorDepth(FORCE_COLOR === undefined ? environment : { FORCE_COLOR }) > 1;
}
