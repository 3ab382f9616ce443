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

/**
 * Returns the condition of a filter over the column `metadata` of a table. Names of fields and values are bound, so that the text
 * depends on the shape of the filter alone. A comparison with a missing field is false. Precondition: the addon has accepted filter
 * and variables for these fields.
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

  predicate(json: Json): string {
    const [[name, content]] = Object.entries(json) as [[string, unknown]];
    if (!others.has(name) && !Object.hasOwn(operators, name)) return this.#conditions(name, content as Json);
    if (name === 'and' || name === 'or') {
      const parts = (content as Json[]).map((each) => this.predicate(each));
      if (parts.length === 0) return name === 'and' ? 'true' : 'false';
      return `(${parts.join(` ${name} `)})`;
    }
    if (name === 'not') return `(not ${this.predicate(content as Json)})`;
    if (name === 'exists') return this.#exists((content as { knowledge: string }).knowledge);
    const [left, right] = content as [Operand, Operand];
    return this.#operation(name, left, right);
  }

  #conditions(field: string, conditions: Json): string {
    const parts = Object.entries(conditions).map(([name, content]) => {
      if (name === 'exists') return content ? this.#exists(field) : `(not ${this.#exists(field)})`;
      return this.#operation(name, { knowledge: field }, content as Operand);
    });
    return `(${parts.join(' and ')})`;
  }

  #operation(name: string, left: Operand, right: Operand): string {
    const [a, b] = [this.#resolved(left), this.#resolved(right)];
    const condition =
      name === 'in'
        ? this.#member(a, b)
        : name === 'starts_with'
          ? this.#prefix(a as FieldDefinition, String(b))
          : this.#comparison(name as Comparison, a, b);
    return `coalesce(${condition}, false)`;
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
    return `jsonb_exists(${this.#column}, ${this.#statement.bind(field, 'text')})`;
  }

  #comparison(comparison: Comparison, a: FieldDefinition | Value, b: FieldDefinition | Value): string {
    if (!isField(a)) return this.#comparison(mirrored[comparison] ?? comparison, b, a);
    // A value that is bound must be part of the text.
    if (comparison === '==' && typeof b === 'string' && a.type === 'string' && !isStorable(b)) return 'false';
    const side = this.#value(a);
    if (isField(b)) return `${side} ${operators[comparison]} ${this.#value(b)}`;
    if (typeof b === 'string' && a.type === 'string') return this.#compareText(comparison, side, b);
    return `${side} ${operators[comparison]} ${this.#literal(a, b)}`;
  }

  /** Compares with a text that may have U+0000, which no text in a table has. */
  #compareText(comparison: Comparison, side: string, text: string): string {
    const end = text.indexOf('\0');
    if (end < 0) return `${side} ${operators[comparison]} ${this.#statement.bind(text, 'text')}`;
    if (comparison === '!=') return `${side} is not null`;
    // Every text without U+0000 that is less has its beginning at most; the others are greater.
    const less = comparison === '<' || comparison === '<=' ? '<=' : '>';
    return `${side} ${less} ${this.#statement.bind(text.slice(0, end), 'text')}`;
  }

  #member(needle: FieldDefinition | Value, haystack: FieldDefinition | Value): string {
    if (isField(haystack)) {
      if (!isField(needle) && !isStorable(String(needle))) return 'false';
      const set = `${this.#column} -> ${this.#statement.bind(haystack.name, 'text')}`;
      const value = isField(needle) ? this.#value(needle) : this.#statement.bind(String(needle), 'text');
      return `jsonb_exists(${set}, ${value})`;
    }
    const field = needle as FieldDefinition;
    const values = (haystack as readonly Value[]).filter(
      (value) => field.type !== 'string' || isStorable(String(value)),
    );
    if (values.length === 0) return 'false';
    const side = this.#value(field);
    return `${side} in (${values.map((value) => this.#literal(field, value)).join(', ')})`;
  }

  #prefix(field: FieldDefinition, prefix: string): string {
    if (!isStorable(prefix)) return 'false';
    return `starts_with(${this.#value(field)}, ${this.#statement.bind(prefix, 'text')})`;
  }

  /** The value of a field; null if the record has none. Texts are ordered by code point. */
  #value({ name, type }: FieldDefinition): string {
    const text = `(${this.#column} ->> ${this.#statement.bind(name, 'text')})`;
    if (type === 'string') return `${text} collate "C"`;
    return type === 'bool' ? `(${text} = 'true')` : `${text}::numeric`;
  }

  #literal({ type, format }: FieldDefinition, value: Value): string {
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    if (type === 'string') return this.#statement.bind(String(value), 'text');
    const number = typeof value === 'string' ? dateNumber(value, format) : (value as number | bigint);
    return this.#statement.bind(numericText(number), 'numeric');
  }
}

const isField = (side: FieldDefinition | Value): side is FieldDefinition =>
  typeof side === 'object' && 'type' in side;
