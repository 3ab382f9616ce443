import { fail, serverError } from '../protocol/errors.js';
import type { Interaction } from './interaction.js';
import { Template } from './template.js';

/** The `query` of a search: a template whose errors name its place in the request. */
export class QueryTemplate {
  readonly #template: Template;
  readonly #path: string;
  readonly #invalid: 1004 | 4003;

  /** `path` is its place in the request, `invalid` the code of what is wrong there. @throws `invalid` */
  constructor(source: string, path: string, invalid: 1004 | 4003) {
    this.#path = path;
    this.#invalid = invalid;
    try {
      this.#template = new Template(source);
    } catch (cause) {
      const { message } = cause as Error;
      throw serverError(invalid, `${path}: not a Mustache template: ${message}`, { path }, { cause });
    }
  }

  /** @throws `invalid` for a template that cannot be rendered over this interaction, or that gives nothing */
  render(interaction: Interaction): string {
    const path = this.#path;
    let query: string;
    try {
      query = this.#template.render(interaction);
    } catch (cause) {
      throw serverError(this.#invalid, `${path}: ${(cause as Error).message}`, { path }, { cause });
    }
    if (query.trim() === '') fail(this.#invalid, `${path}: it gives an empty query here`, { path });
    return query;
  }
}
