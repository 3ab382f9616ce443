import { stringifyWithWideIntegers } from '../base/schema/wide-integers.js';
import type { LookupContext } from './compact-template.js';

/** Remaining budget of one rendering: characters looked up, values, and sections entered. */
export interface RenderingBudget {
  left: number;
  /** Cost of entering a section. */
  readonly perSection: number;
}

const absent = Symbol('absent');

/**
 * Finds names as Mustache does, but only own fields of data, so that values need no copies without prototypes. Each look-up
 * and each section spends the budget.
 */
export class TemplateContext implements LookupContext {
  readonly #view: unknown;
  readonly #around: TemplateContext | undefined;
  readonly #budget: RenderingBudget;

  constructor(view: unknown, around: TemplateContext | undefined, budget: RenderingBudget) {
    this.#view = view;
    this.#around = around;
    this.#budget = budget;
  }

  /** @throws Error if the budget is spent */
  push(view: unknown): TemplateContext {
    spend(this.#budget, this.#budget.perSection);
    return new TemplateContext(view, this, this.#budget);
  }

  /** @throws as push() */
  lookup(name: string): unknown {
    const value = name === '.' ? this.#view : this.#find(name);
    spend(this.#budget, typeof value === 'string' ? 1 + value.length : 1);
    return value;
  }

  #find(name: string): unknown {
    const path = name.indexOf('.') > 0 ? name.split('.') : undefined;
    for (let at: TemplateContext | undefined = this; at !== undefined; at = at.#around) {
      const value = path === undefined ? fieldOf(at.#view, name) : fieldAt(at.#view, path);
      if (value !== absent) return value;
    }
    return undefined;
  }
}

/** Returns the text of a value: JSON of objects and arrays. @throws Error if the budget is spent */
export function shownWithin(budget: RenderingBudget): (value: unknown) => string {
  return (value) => {
    if (typeof value !== 'object' || value === null) return String(value);
    spendOn(value, budget);
    return stringifyWithWideIntegers(value);
  };
}

function spend(budget: RenderingBudget, units: number): void {
  budget.left -= units;
  if (budget.left < 0) throw new Error('the result is longer than a query may be');
}

/** Spends about the length of the value's JSON. Visits no more values than the budget allows. */
function spendOn(value: unknown, budget: RenderingBudget): void {
  spend(budget, typeof value === 'string' ? 2 + value.length : 2);
  if (typeof value !== 'object' || value === null) return;
  for (const key in value) {
    spend(budget, key.length);
    spendOn((value as Record<string, unknown>)[key], budget);
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : absent;
}

/** Also finds `length` of a text, as Mustache does at the end of a dotted name. */
function fieldAt(view: unknown, path: readonly string[]): unknown {
  let value = view;
  for (const name of path) {
    if (value === undefined || value === null || !Object.hasOwn(Object(value), name)) return absent;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
