import type { Filter, FilterExpression } from './filter.js';

const maxFilters = 16;
const longestKey = 2000;

/**
 * Caches the compiled filters of a storage's latest searches by the content of their expressions. An expression that is
 * used repeatedly is compiled once, and the addon can reuse its set of matching records.
 */
export class RecentFilters {
  readonly #compile: (expression: FilterExpression) => Filter;
  /** Least recently used first. */
  readonly #filters = new Map<string, Filter>();

  constructor(compile: (expression: FilterExpression) => Filter) {
    this.#compile = compile;
  }

  clear(): void {
    this.#filters.clear();
  }

  /** Returns the filter of an expression. @throws the errors of compileFilter() */
  get(expression: FilterExpression): Filter {
    const key = keyOf(expression);
    if (key === undefined) return this.#compile(expression);
    const filter = this.#filters.get(key) ?? this.#compile(expression);
    this.#filters.delete(key);
    this.#filters.set(key, filter);
    if (this.#filters.size > maxFilters) {
      const [oldest] = this.#filters.keys();
      this.#filters.delete(oldest as string);
    }
    return filter;
  }
}

/**
 * Returns the cache key of an expression: equal for equal operators, fields and values in the same order. Undefined for
 * long expressions, which are costly to compare, and for anything but plain data, which the compiler judges.
 */
function keyOf(expression: unknown): string | undefined {
  let key = '';
  const add = (value: unknown): boolean => {
    if (key.length > longestKey) return false;
    if (Array.isArray(value)) {
      key += '[';
      for (let i = 0; i < value.length; i++) if (!add(value[i])) return false;
      key += ']';
      return true;
    }
    switch (typeof value) {
      case 'string':
        key += `${value.length}"${value}`;
        return true;
      case 'number':
        key += `${value},`;
        return true;
      case 'bigint':
        key += `${value}n`;
        return true;
      case 'boolean':
        key += value ? 't' : 'f';
        return true;
      case 'object':
        return value !== null && Object.getPrototypeOf(value) === Object.prototype && addMembers(value);
      default:
        return false;
    }
  };
  const addMembers = (value: object): boolean => {
    key += '{';
    for (const [name, member] of Object.entries(value)) {
      add(name);
      if (!add(member)) return false;
    }
    key += '}';
    return true;
  };
  return add(expression) && key.length <= longestKey ? key : undefined;
}
