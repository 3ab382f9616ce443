/** All node types: one line per type; everything else is in the type's folder. */
export { cannedResponse } from './canned_response/index.js';
export { generate } from './generate/index.js';
export { quote } from './quote/index.js';
export { regexGuardrail } from './regex_guardrail/index.js';
export { remember } from './remember/index.js';
export { rerank } from './rerank/index.js';
export { retrieve } from './retrieve/index.js';
