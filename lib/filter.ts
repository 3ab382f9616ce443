import { Handle } from './handle.js';
import type { NativeFilter } from './native.js';

/** The values that a metadata field holds. Integers beyond 2^53 are BigInt, also when they come back. */
export type MetadataValue = number | bigint | string | boolean | string[];

/** One typed field of a storage's records. Exactly one of `default` and `optional: true` is needed. */
export interface FieldDefinition {
  name: string;
  type: 'int' | 'float' | 'string' | 'bool' | 'set<string>';
  /** What a record that omits the field has. */
  default?: MetadataValue | undefined;
  /** A record may omit the field; every comparison with it is then false. */
  optional?: boolean | undefined;
  /** false: the field is shown with hits, but no filter may name it. Default true. */
  filterable?: boolean | undefined;
}

export type FilterOperand =
  | { knowledge: string }
  | { variable: string }
  | number
  | bigint
  | string
  | boolean
  | readonly (number | bigint | string | boolean)[];

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in';

/** Which records a search may find; the grammar is described in docs/filters.md. */
export type FilterExpression =
  | { and: readonly FilterExpression[] }
  | { or: readonly FilterExpression[] }
  | { not: FilterExpression }
  | { [Operator in Comparison]: { [Key in Operator]: readonly [FilterOperand, FilterOperand] } }[Comparison];

/** A filter checked and compiled for one storage's fields, made by Storage.compileFilter(). May be used many times. */
export class Filter extends Handle<NativeFilter> {
  /** @internal Use Storage.compileFilter(). */
  constructor(native: NativeFilter) {
    super(native);
  }

  /** Names of the variables that a search has to give. */
  get variables(): readonly string[] {
    return this.read((native) => native.variables);
  }
}
