import type { Bytes } from '../limits/bytes.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Interaction } from './interaction.js';
import { messageAlone, Template } from './template.js';

/** Characters of Mustache's message that a client gets: it may quote the template. */
const longestReason = 200;

/** The `query` of a search: a template whose errors name its place in the request. */
export class QueryTemplate {
  readonly #template: Template;
  readonly #path: string;
  /** Which field of the request the query comes from: `text`, unless a template makes it. */
  readonly origin: string;
  readonly #invalid: 1004 | 4003;

  /** `path` is its place in the request, `invalid` the code of what is wrong there. @throws `invalid` */
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

  /** What the template takes beside its text. */
  get bytes(): Bytes {
    return this.#template.bytes;
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
    if (query.trim() === '') this.#refuseBlank();
    return query;
  }

  #refuseBlank(): never {
    const { origin } = this;
    const problem =
      origin === 'text' ? 'is blank; words to look for are expected' : 'gives an empty query here';
    fail(this.#invalid, `${origin}: ${problem}`, { path: origin });
  }
}
