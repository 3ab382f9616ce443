import { type FieldDefinition, type FilterExpression, LorekeepError } from '../../../lib/internal.js';
import { dateNumber, numericText } from './metadata.js';
import { isStorable, type Statement } from './statement.js';

type Fields = readonly FieldDefinition[];
type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
type Operand = { readonly knowledge: string } | { readonly variable: string } | Value;
type Value = number | bigint | string | boolean | readonly (number | bigint | string | boolean)[];

const operators: Readonly<Record<Comparison, string>> = {
  '==': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

const mirrored: Readonly<Record<string, Comparison>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

const others = new Set(['and', 'or', 'not', 'in', 'starts_with', 'exists']);

/** Longest list of texts whose members are looked up in the index one by one; a longer one is hashed, and each record is read. */
const longestLookup = 16;

/**
 * Returns the condition of a filter over the column `metadata` of a table. Names of fields and values are bound, so that the text
 * depends on the shape of the filter alone. A comparison with a missing field is not true: null or false, and false below `not`.
 * Comparisons have the shapes that the indexes of push.ts answer, and that a foreign server takes over where there is one.
 * Precondition: the addon has accepted filter and variables for these fields.
 */
export function filterSql(
  expression: FilterExpression,
  variables: Readonly<Record<string, unknown>>,
  { fields, statement, table }: { fields: Fields; statement: Statement; table: string },
): string {
  return new Translation(variables, fields, statement, table).predicate(expression as Json);
}

type Json = Readonly<Record<string, unknown>>;

class Translation {
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #fields: Fields;
  readonly #statement: Statement;
  readonly #column: string;

  constructor(
    variables: Readonly<Record<string, unknown>>,
    fields: Fields,
    statement: Statement,
    table: string,
  ) {
    this.#variables = variables;
    this.#fields = fields;
    this.#statement = statement;
    this.#column = `${table}.metadata`;
  }

  /** `negated`: below `not`, where null must be false. */
  predicate(json: Json, negated = false): string {
    const [[name, content]] = Object.entries(json) as [[string, unknown]];
    if (!others.has(name) && !Object.hasOwn(operators, name))
      return this.#conditions(name, content as Json, negated);
    if (name === 'and' || name === 'or') {
      const parts = (content as Json[]).map((each) => this.predicate(each, negated));
      if (parts.length === 0) return name === 'and' ? 'true' : 'false';
      return `(${parts.join(` ${name} `)})`;
    }
    if (name === 'not') return `(not ${this.predicate(content as Json, true)})`;
    if (name === 'exists') return this.#exists((content as { knowledge: string }).knowledge);
    const [left, right] = content as [Operand, Operand];
    return this.#operation(name, [left, right], negated);
  }

  #conditions(field: string, conditions: Json, negated: boolean): string {
    const parts = Object.entries(conditions).map(([name, content]) => {
      if (name === 'exists') return content ? this.#exists(field) : `(not ${this.#exists(field)})`;
      return this.#operation(name, [{ knowledge: field }, content as Operand], negated);
    });
    return `(${parts.join(' and ')})`;
  }

  #operation(name: string, [left, right]: [Operand, Operand], negated: boolean): string {
    const [a, b] = [this.#resolved(left), this.#resolved(right)];
    const condition =
      name === 'in'
        ? this.#member(a, b)
        : name === 'starts_with'
          ? this.#prefix(a as FieldDefinition, String(b))
          : this.#comparison(name as Comparison, a, b);
    // Elsewhere a null is as good as false.
    const read = negated ? [a, b].filter(isField).map((field) => `${this.#exists(field.name)} and `) : [];
    return `(${read.join('')}${condition})`;
  }

  /** Returns a field's definition, or a value. */
  #resolved(operand: Operand): FieldDefinition | Value {
    if (typeof operand !== 'object' || Array.isArray(operand)) return operand as Value;
    if ('variable' in operand) return this.#variables[operand.variable] as Value;
    return this.#field((operand as { knowledge: string }).knowledge);
  }

  #field(name: string): FieldDefinition {
    const found = this.#fields.find((field) => field.name === name);
    if (found !== undefined) return found;
    throw new LorekeepError('INTERNAL', `filter: ${JSON.stringify(name)} was accepted and is no field`);
  }

  #exists(field: string): string {
    return `(${this.#column}[${this.#statement.bind(field, 'text')}] is not null)`;
  }

  #comparison(comparison: Comparison, a: FieldDefinition | Value, b: FieldDefinition | Value): string {
    if (!isField(a)) return this.#comparison(mirrored[comparison] ?? comparison, b, a);
    if ((comparison === '==' || comparison === '!=') && isEqualByContent(a, b))
      return this.#equality(comparison, a, b);
    const side = this.#value(a);
    if (isField(b)) return `${side} ${operators[comparison]} ${this.#value(b)}`;
    if (typeof b === 'string' && a.type === 'string') return this.#compareText(comparison, side, b);
    return `${side} ${operators[comparison]} ${this.#literal(a, b)}`;
  }

  #equality(comparison: '==' | '!=', { name }: FieldDefinition, value: string | boolean): string {
    if (typeof value === 'string' && !isStorable(value))
      return comparison === '==' ? 'false' : this.#exists(name);
    const equal = this.#contains(name, value);
    return comparison === '==' ? equal : `${this.#exists(name)} and not ${equal}`;
  }

  /** The condition for a field with exactly this value, or with all members of this list. */
  #contains(name: string, value: string | boolean | readonly string[]): string {
    return `${this.#column} @> ${this.#statement.bind(JSON.stringify({ [name]: value }), 'jsonb')}`;
  }

  /** Compares with a text that may have U+0000, which no text in a table has. */
  #compareText(comparison: Comparison, side: string, text: string): string {
    const end = text.indexOf('\0');
    if (end < 0) return `${side} ${operators[comparison]} ${this.#statement.bind(text, 'text')}`;
    // Every text without U+0000 that is less has its beginning at most; the others are greater.
    const less = comparison === '<' || comparison === '<=' ? '<=' : '>';
    return `${side} ${less} ${this.#statement.bind(text.slice(0, end), 'text')}`;
  }

  #member(needle: FieldDefinition | Value, haystack: FieldDefinition | Value): string {
    if (isField(haystack)) {
      if (!isField(needle))
        return isStorable(String(needle)) ? this.#contains(haystack.name, [String(needle)]) : 'false';
      const set = `${this.#column} -> ${this.#statement.bind(haystack.name, 'text')}`;
      return `jsonb_exists(${set}, ${this.#value(needle)})`;
    }
    const field = needle as FieldDefinition;
    const values = (haystack as readonly Value[]).filter(
      (value) => field.type !== 'string' || isStorable(String(value)),
    );
    if (values.length === 0) return 'false';
    if (field.type === 'string' && values.length <= longestLookup)
      return `(${values.map((value) => this.#contains(field.name, String(value))).join(' or ')})`;
    const side = this.#value(field);
    return `${side} in (${values.map((value) => this.#literal(field, value)).join(', ')})`;
  }

  #prefix(field: FieldDefinition, prefix: string): string {
    if (!isStorable(prefix)) return 'false';
    return `starts_with(${this.#value(field)}, ${this.#statement.bind(prefix, 'text')})`;
  }

  /** The value of a field; null if the record has none. Texts are ordered by code point. */
  #value({ name, type }: FieldDefinition): string {
    const bound = this.#statement.bind(name, 'text');
    if (type === 'string') return `(${this.#column} ->> ${bound}) collate "C"`;
    return `(${this.#column}[${bound}])::${type === 'bool' ? 'boolean' : 'numeric'}`;
  }

  #literal({ type, format }: FieldDefinition, value: Value): string {
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    if (type === 'string') return this.#statement.bind(String(value), 'text');
    const number = typeof value === 'string' ? dateNumber(value, format) : (value as number | bigint);
    return this.#statement.bind(numericText(number), 'numeric');
  }
}

/** Whether the two are equal exactly if the field's JSON has this value. */
const isEqualByContent = (
  field: FieldDefinition,
  value: FieldDefinition | Value,
): value is string | boolean =>
  (field.type === 'string' && typeof value === 'string') ||
  (field.type === 'bool' && typeof value === 'boolean');

const isField = (side: FieldDefinition | Value): side is FieldDefinition =>
  typeof side === 'object' && 'type' in side;
