import type { Bytes } from '../fairness/bytes.js';
import { CompactTemplate } from './compact-template.js';
import type { Interaction } from './interaction.js';
import { shownWithin, TemplateContext } from './template-context.js';

/** The template that renders the user's message unchanged. */
export const messageAlone = '{{text}}';

/** Maximum number of characters looked up plus sections entered in one rendering: nested sections over lists multiply. */
const renderingBudget = 262_144;

/** Bytes of a template without its text and tokens. */
const templateHeap = 1024;

/**
 * A Mustache template over an interaction, without HTML escaping. Its names are `text` (the user's message), `variables`,
 * and lists of components by type, as in `{{#knowledge}}{{text}} {{/knowledge}}`. Names reach only own fields of data.
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

  /** Like render(), with an existing view. */
  renderView(view: TemplateView): string {
    if (this.#parsed === undefined) return view.written(view.text);
    const budget = { left: renderingBudget, perSection: this.#length };
    let context = new TemplateContext(view.values, undefined, budget);
    if (view.inner !== undefined) context = context.push(view.inner);
    const shown = shownWithin(budget);
    const show = (value: unknown) => view.written(shown(value));
    return this.#parsed.render(context, show, show);
  }
}

/** The names and values that a template may use. */
export class TemplateView {
  /** The value of `text`. */
  readonly text: string;
  readonly values: object;
  /** Returns the text to write for one of the values. */
  readonly written: (text: string) => string;
  /** Looked up before `values`. */
  readonly inner: object | undefined;

  /** @internal Use interactionView(). */
  constructor(text: string, values: object, written: (text: string) => string, inner?: object) {
    this.text = text;
    this.values = values;
    this.written = written;
    this.inner = inner;
  }

  /** A view from inside a component of the interaction. */
  within<Inner extends { readonly text: string }>(component: Inner): TemplateView {
    return new TemplateView(component.text, this.values, this.written, component);
  }
}

/**
 * Returns the view of an interaction. `knowledge` replaces the knowledge components; each has its `number`, from 1.
 * `written`: see TemplateView.
 */
export function interactionView(
  { text, variables, components }: Interaction,
  knowledge?: readonly object[],
  written: (text: string) => string = (value) => value,
): TemplateView {
  const byType: Record<string, unknown[]> = Object.create(null);
  for (const component of components) {
    byType[component._type] ??= [];
    byType[component._type]?.push(component);
  }
  if (knowledge !== undefined)
    byType.knowledge = knowledge.map((record, index) => ({ ...record, number: index + 1 }));
  return new TemplateView(text, { ...byType, text, variables }, written);
}
