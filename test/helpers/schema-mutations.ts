/** The keywords of a field's JSON Schema that decide which values it takes. */
export interface FieldSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: FieldSchema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface ObjectSchema {
  properties: Record<string, FieldSchema>;
  required?: string[];
}

const samples = { string: 'x', number: 7.5, integer: 7, boolean: true, array: [1], object: { a: 1 } };

/** Values that a field must refuse, with what is wrong with each. None for a field that takes any value. */
export function refusedValues(field: FieldSchema): [what: string, value: unknown][] {
  const kinds = new Set((field.anyOf ?? [field]).map(({ type, enum: words }) => type ?? (words && 'string')));
  if (kinds.has(undefined)) return [];
  const otherTypes = Object.entries(samples).filter(
    ([kind]) => !kinds.has(kind) && !(kind === 'integer' && kinds.has('number')),
  );
  return [['null', null], ...otherTypes, ...(field.anyOf === undefined ? beyondBounds(field) : [])];
}

function beyondBounds({ type, ...field }: FieldSchema): [what: string, value: unknown][] {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = field;
  const step = type === 'integer' ? 1 : 0.001;
  const found: [string, unknown][] = [];
  if (minimum !== undefined) found.push(['too small', minimum - step]);
  if (exclusiveMinimum !== undefined) found.push(['too small', exclusiveMinimum]);
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) found.push(['too large', maximum + step]);
  if (field.enum !== undefined) found.push(['another word', 'nonsense']);
  if (minLength !== undefined) found.push(['too short', 'x'.repeat(minLength - 1)]);
  if (maxLength !== undefined) found.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (minItems) found.push(['too few', []]);
  if (maxItems !== undefined) found.push(['too many', Array(maxItems + 1).fill('x')]);
  return found;
}
