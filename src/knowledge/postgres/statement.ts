/** A statement under construction: its text, and the values that it binds. No value becomes part of the text. */
export class Statement {
  readonly values: string[] = [];

  /** Binds a value and returns its place in the text. `type`: one of Postgres's, by which the value is read. */
  bind(value: string | number, type: BoundType): string {
    this.values.push(String(value));
    return type === 'text' ? `$${this.values.length}::text` : `$${this.values.length}::text::${type}`;
  }
}

/** Every value is sent as a text, so that no driver has to know its type. */
export type BoundType = 'text' | 'int' | 'bigint' | 'real' | 'float8' | 'numeric' | 'jsonb' | 'vector';

/** Returns a name as a statement has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns a text as a statement has it that cannot bind values. */
export const literal = (text: string): string => ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** Postgres has no text with U+0000, nor with half of a surrogate pair. */
export const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);
