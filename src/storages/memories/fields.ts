import type { FieldDefinition } from '../../../lib/internal.js';

/** The metadata of every memory's records: docs/guides/memory.md. */
export const memoryFields: readonly FieldDefinition[] = [
  { name: 'time', type: 'int', format: 'date-time', default: 0 },
  { name: 'since', type: 'int', format: 'date-time', default: 0 },
  { name: 'until', type: 'int', format: 'date-time', optional: true },
  { name: 'kind', type: 'string', default: 'said' },
  { name: 'speaker', type: 'string', default: '' },
  { name: 'turn', type: 'string', default: '' },
  { name: 'scope', type: 'string', default: '' },
  { name: 'subject', type: 'string', default: '' },
  { name: 'importance', type: 'float', default: 0.5 },
  { name: 'count', type: 'int', default: 1 },
];
