import type { NodeType } from '../node.js';
import { cannedResponse } from './canned-response.js';
import { regexGuardrail } from './regex-guardrail.js';
import { retrieve } from './retrieve.js';

/** Every type that a graph's node may have. */
export const nodeTypes: ReadonlyMap<string, NodeType> = new Map([
  ['retrieve', retrieve],
  ['canned_response', cannedResponse],
  ['regex_guardrail', regexGuardrail],
]);
