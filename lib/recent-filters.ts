import type { Filter, FilterExpression } from './filter.js';

const mostFilters = 16;
const longestKey = 2000;

/**
 * The compiled filters of a storage's latest searches, by what their expressions say. A program that gives the same
 * expression to search after search has it compiled once, and the addon knows then which records it lets through.
 */
export class RecentFilters {
  readonly #compile: (expression: FilterExpression) => Filter;
  /** The least recently used first. */
  readonly #filters = new Map<string, Filter>();

  constructor(compile: (expression: FilterExpression) => Filter) {
    this.#compile = compile;
  }

  clear(): void {
    this.#filters.clear();
  }

  /** @throws whatever compiling throws. */
  get(expression: FilterExpression): Filter {
    const key = keyOf(expression);
    if (key === undefined) return this.#compile(expression);
    const filter = this.#filters.get(key) ?? this.#compile(expression);
    this.#filters.delete(key);
    this.#filters.set(key, filter);
    if (this.#filters.size > mostFilters) {
      const [oldest] = this.#filters.keys();
      this.#filters.delete(oldest as string);
    }
    return filter;
  }
}

/**
 * The same for expressions that mean the same by their operators, fields and values, in this order. Undefined for long
 * ones, which are costly to tell apart, and for what holds anything but plain data: whether that is an error is for the
 * compiler to say.
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
