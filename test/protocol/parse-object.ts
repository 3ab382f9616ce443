import { objectOf, payloadParser } from '../../src/protocol/request.js';

/** Parses a payload as an object. @throws MalformedFrame, InvalidField for a duplicate field */
export function parseObject(payload: Buffer): Record<string, unknown> {
  const parser = payloadParser(payload);
  parser.parse();
  return objectOf(parser);
}
