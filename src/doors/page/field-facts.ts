import type { FieldDefinition } from '../../../lib/internal.js';
import { mapInSlices } from '../../base/waiting/next-slice.js';

/** A value of a field, and the number of looked-at records that have it. */
export interface FieldValue {
  readonly value: string | boolean;
  readonly records: number;
}

/** A field that a filter may name, with values for its control. */
export interface FieldFacts {
  readonly name: string;
  readonly type: FieldDefinition['type'];
  readonly format?: FieldDefinition['format'];
  /** Of texts and truth values: the most frequent first. */
  readonly values: readonly FieldValue[];
  /** Whether records may have other values. */
  readonly more: boolean;
  /** Of numbers: the least and the greatest, dates as they are written. */
  readonly least?: number | string;
  readonly greatest?: number | string;
}

/** Values of a field that are shown. */
const shownValues = 40;

/** Values of a field that are counted; further ones are left out. */
const countedValues = 2000;

/** Longer texts are no labels, in UTF-16 code units. */
const longestValue = 200;

/** Values of one record that are counted. */
const valuesOfRecord = 100;

type Metadata = Readonly<Record<string, unknown>>;

/** Counts the values of one field, a record at a time, and keeps no more of them than it may show. */
class FieldCount {
  readonly #field: FieldDefinition;
  readonly #numbers = new Map<string | boolean, number>();
  #more = false;
  #least: number | string | undefined;
  #greatest: number | string | undefined;

  constructor(field: FieldDefinition) {
    this.#field = field;
  }

  add(metadata: Metadata): void {
    const { name } = this.#field;
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    if (value === undefined) return;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const item of values.slice(0, valuesOfRecord)) this.#add(item);
    if (values.length > valuesOfRecord) this.#more = true;
  }

  /** `whole`: all records were added. */
  facts(whole: boolean): FieldFacts {
    const { name, type, format } = this.#field;
    const facts = { name, type, ...(format !== undefined && { format }) };
    if (this.#isOrdered) return { ...facts, values: [], more: true, ...this.#range };
    const sorted = [...this.#numbers].sort(([a, m], [b, n]) => n - m || String(a).localeCompare(String(b)));
    return {
      ...facts,
      values: sorted.slice(0, shownValues).map(([value, records]) => ({ value, records })),
      more: !whole || this.#more || sorted.length > shownValues,
    };
  }

  get #isOrdered(): boolean {
    return this.#field.type === 'int' || this.#field.type === 'float';
  }

  get #range(): { least?: number | string; greatest?: number | string } {
    const [least, greatest] = [this.#least, this.#greatest];
    return least === undefined || greatest === undefined ? {} : { least, greatest };
  }

  #add(value: unknown): void {
    if (this.#isOrdered) {
      if (typeof value !== 'number' && typeof value !== 'string') return;
      if (this.#least === undefined || value < this.#least) this.#least = value;
      if (this.#greatest === undefined || value > this.#greatest) this.#greatest = value;
      return;
    }
    if (typeof value !== 'boolean' && (typeof value !== 'string' || value.length > longestValue)) return;
    const known = this.#numbers.get(value);
    if (known === undefined && this.#numbers.size === countedValues) this.#more = true;
    else this.#numbers.set(value, (known ?? 0) + 1);
  }
}

/** Finds the values of the fields in some records, in slices of the client. */
export class FieldCounts {
  readonly #counts: readonly FieldCount[];

  constructor(fields: readonly FieldDefinition[]) {
    this.#counts = fields
      .filter(({ filterable }) => filterable !== false)
      .map((field) => new FieldCount(field));
  }

  async add(records: readonly { readonly metadata?: Metadata | undefined }[]): Promise<void> {
    await mapInSlices(
      records,
      ({ metadata = {} }) => {
        for (const count of this.#counts) count.add(metadata);
      },
      1,
    );
  }

  /** `whole`: all records were added. */
  facts(whole: boolean): FieldFacts[] {
    return this.#counts.map((count) => count.facts(whole));
  }
}
