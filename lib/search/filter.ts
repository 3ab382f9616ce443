import { Handle } from '../boundary/handle.js';
import type { NativeFilter } from '../boundary/native.js';

/** A value of a metadata field. Integers beyond 2^53 are BigInt, in hits too. */
export type MetadataValue = number | bigint | string | boolean | string[];

/** Values of a record's fields, by name. */
export type Metadata = Record<string, MetadataValue>;

/** The constraint of a metadata type of your own: every property is a MetadataValue. Write `Own extends MetadataOf<Own>`. */
export type MetadataOf<Own> = { [Name in keyof Own]: MetadataValue | undefined };

/** One typed field of a storage's records. Exactly one of `default` and `optional: true` is required. */
export interface FieldDefinition {
  /** Key in the records' metadata, and name in filters. */
  name: string;
  /** Type of its values. A record with another one is refused. */
  type: 'int' | 'float' | 'string' | 'bool' | 'set<string>';
  /**
   * For an int field whose values are dates. "date": days since 1970-01-01, also written "2024-05-31"; "date-time":
   * milliseconds since 1970 in UTC, also written "2024-05-31T12:00:00Z". Hits have the written form.
   */
  format?: 'date' | 'date-time' | undefined;
  /** Value for records that omit the field. */
  default?: MetadataValue | undefined;
  /** Records may omit the field; every comparison with it is then false. */
  optional?: boolean | undefined;
  /** false: hits show the field, but no filter may name it. Default true. */
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

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'starts_with';

/** Operators of one field. All must hold. */
type FieldConditions = { [Operator in Comparison]?: FilterOperand | undefined } & {
  exists?: boolean | undefined;
};

/** The arguments of each operator. */
interface Operators extends Record<Comparison, readonly [FilterOperand, FilterOperand]> {
  /** All must match. */
  and: readonly FilterExpression[];
  /** At least one must match. */
  or: readonly FilterExpression[];
  not: FilterExpression;
  /** The record has the field. */
  exists: { knowledge: string };
}

/** An object of one operator, without any other key. */
type Only<Operator extends keyof Operators> = { [Key in Operator]: Operators[Key] } & {
  [Key in Exclude<keyof Operators, Operator>]?: never;
};

/** Conditions by field: all must hold. */
type FieldFilter = { [Key in keyof Operators]?: never } & { [field: string]: FieldConditions | undefined };

/** Restricts a search to matching records. docs/reference/filters.md describes the grammar. */
export type FilterExpression =
  | { [Operator in keyof Operators]: Only<Operator> }[keyof Operators]
  | FieldFilter;

/** A filter compiled for one storage's fields by Storage.compileFilter(). May be used many times. */
export class Filter extends Handle<NativeFilter> {
  /** @internal Use Storage.compileFilter(). */
  constructor(native: NativeFilter) {
    super(native);
  }

  /** Names of the variables that a search must provide. */
  get variables(): readonly string[] {
    return this.read((native) => native.variables);
  }
}
