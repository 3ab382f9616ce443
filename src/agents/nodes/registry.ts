/** Every type of node that a graph may have: one line per type, and its folder has the rest. */
export { cannedResponse } from './canned_response/index.js';
export { quote } from './quote/index.js';
export { regexGuardrail } from './regex_guardrail/index.js';
export { retrieve } from './retrieve/index.js';
