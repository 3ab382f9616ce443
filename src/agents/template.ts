import Mustache from 'mustache';
import type { Bytes } from '../limits/bytes.js';
import { CompactTemplate } from './compact-template.js';
import type { Interaction } from './interaction.js';

/** The template that renders the user's message unchanged. */
export const messageAlone = '{{text}}';

/** Most characters looked up plus sections entered in one rendering: nested sections over lists multiply. */
const renderingBudget = 262_144;

/** Bytes of a template without its text and tokens. */
const templateHeap = 1024;

/**
 * A Mustache template over an interaction, without HTML escaping. Its names are `text` (the user's message), `variables`,
 * and lists of components by type, as in `{{#knowledge}}{{text}} {{/knowledge}}`. Values have no prototype, so that names
 * reach only data.
 */
export class Template {
  readonly #length: number;
  /** Undefined for `messageAlone`. */
  readonly #parsed: CompactTemplate | undefined;

  /** @throws Error with Mustache's message if the template cannot be parsed */
  constructor(source: string) {
    this.#length = source.length;
    this.#parsed = source === messageAlone ? undefined : new CompactTemplate(source);
  }

  /** Memory besides the template's text. */
  get bytes(): Bytes {
    return { heap: templateHeap, native: this.#parsed?.bytes ?? 0 };
  }

  /** @throws Error if rendering this interaction fails or exceeds the budget */
  render(interaction: Interaction): string {
    return this.#parsed === undefined ? interaction.text : this.renderView(interactionView(interaction));
  }

  /** As render(), with a view that was made before. */
  renderView(view: TemplateView): string {
    if (this.#parsed === undefined) return view.text;
    const budget = { left: renderingBudget, perSection: this.#length };
    let context = new BudgetedContext(view.values, undefined, budget);
    if (view.inner !== undefined) context = context.push(view.inner);
    return this.#parsed.render(context, show);
  }
}

/** The names and values that a template may use. */
export class TemplateView {
  /** The value of `text`. */
  readonly text: string;
  /** Without prototypes. */
  readonly values: object;
  /** Looked up before `values`. */
  readonly inner: object | undefined;

  /** @internal Use interactionView(). */
  constructor(text: string, values: object, inner?: object) {
    this.text = text;
    this.values = values;
    this.inner = inner;
  }

  /** A view from inside a component of the interaction. */
  within<Inner extends { readonly text: string }>(component: Inner): TemplateView {
    return new TemplateView(component.text, this.values, withoutPrototype(component) as object);
  }
}

/** Returns the view of an interaction. `knowledge` replaces the knowledge components; each has its `number`, from 1. */
export function interactionView(
  { text, variables, components }: Interaction,
  knowledge?: readonly object[],
): TemplateView {
  const byType: Record<string, unknown[]> = {};
  for (const component of components) {
    byType[component._type] ??= [];
    byType[component._type]?.push(component);
  }
  if (knowledge !== undefined)
    byType.knowledge = knowledge.map((record, index) => ({ ...record, number: index + 1 }));
  return new TemplateView(text, withoutPrototype({ ...byType, text, variables }) as object);
}

interface Budget {
  left: number;
  perSection: number;
}

class BudgetedContext extends Mustache.Context {
  readonly #budget: Budget;

  constructor(view: unknown, parent: Mustache.Context | undefined, budget: Budget) {
    super(view, parent);
    this.#budget = budget;
  }

  override push(view: unknown): BudgetedContext {
    this.#spend(this.#budget.perSection);
    return new BudgetedContext(view, this, this.#budget);
  }

  override lookup(name: string): unknown {
    const value = super.lookup(name);
    this.#spend(typeof value === 'string' ? 1 + value.length : 1);
    return value;
  }

  #spend(units: number): void {
    this.#budget.left -= units;
    if (this.#budget.left < 0) throw new Error('it renders to more than a query may be');
  }
}

/** Returns a deep copy without prototypes. Frames bound the nesting depth. */
function withoutPrototype(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(Array.from(value, withoutPrototype), null);
  const copy = Object.create(null);
  for (const [key, field] of Object.entries(value)) copy[key] = withoutPrototype(field);
  return copy;
}

function show(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
