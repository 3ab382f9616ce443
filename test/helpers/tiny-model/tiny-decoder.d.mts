export const tinyDecoders: readonly string[];
export function writeTinyDecoder(
  architecture: string,
  path: string,
  options?: { context?: number; template?: string },
): Promise<void>;
