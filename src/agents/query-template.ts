import type { Bytes } from '../fairness/bytes.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Interaction } from './interaction.js';
import { messageAlone, Template } from './template.js';

/** Maximum number of characters of Mustache's message, which may quote the template, that are sent to a client. */
const longestReason = 200;

/** The `query` of a search: a template whose errors name its place in the request. */
export class QueryTemplate {
  readonly #template: Template;
  readonly #path: string;
  /** The field of the request that the query comes from: `text`, or the template's. */
  readonly origin: string;
  readonly #invalid: 1004 | 4003;

  /** `path`: the template's place in the request; `invalid`: the code for an invalid template. @throws `invalid` */
  constructor(source: string, path: string, invalid: 1004 | 4003) {
    this.#path = path;
    this.origin = source === messageAlone ? 'text' : path;
    this.#invalid = invalid;
    try {
      this.#template = new Template(source);
    } catch (cause) {
      const message = (cause as Error).message.slice(0, longestReason);
      throw serverError(invalid, `${path}: not a Mustache template: ${message}`, { path }, { cause });
    }
  }

  /** Memory besides the template's text. */
  get bytes(): Bytes {
    return this.#template.bytes;
  }

  /** @throws `invalid` if rendering this interaction fails or gives an empty text */
  render(interaction: Interaction): string {
    const path = this.#path;
    let query: string;
    try {
      query = this.#template.render(interaction);
    } catch (cause) {
      throw serverError(this.#invalid, `${path}: ${(cause as Error).message}`, { path }, { cause });
    }
    if (query.trim() === '') this.#refuseBlank();
    return query;
  }

  #refuseBlank(): never {
    const { origin } = this;
    const problem =
      origin === 'text' ? 'is blank; a query with words is expected' : 'renders to an empty query';
    fail(this.#invalid, `${origin}: ${problem}`, { path: origin });
  }
}
