import { stringifyWithWideIntegers } from '../../../base/schema/wide-integers.js';
import type { Bytes } from '../../../fairness/bytes.js';
import { fail, serverError } from '../../../protocol/errors.js';
import type { MemoryKind } from '../../../protocol/memories.js';
import { normalText, type Statement } from '../../../storages/memories/statement.js';
import type { Interaction } from '../../interaction.js';
import { interactionView, Template, type TemplateView } from '../../template.js';
import type { RememberParams } from './schema.js';

/** Longest statement in characters. What is beyond is not remembered. */
const longestStatement = 16_384;
/** Longest speaker and subject in characters. */
const longestName = 256;
/** Characters of a rendered subject that are looked at: blanks and compatibility forms may make it shorter. */
const lookedAt = 4096;

/** What a turn has to remember, before templates. */
interface Said {
  readonly kind: MemoryKind;
  readonly speaker: string;
  readonly text: string;
}

/** The templates of a remember node, which make statements of a turn. */
export class StatementMaker {
  readonly #params: RememberParams;
  readonly #where: string;
  readonly #templates = new Map<string, Template>();

  /** @throws InvalidParam for a template that cannot be parsed */
  constructor(params: RememberParams, where: string) {
    this.#params = params;
    this.#where = where;
    for (const name of ['template', 'condition', 'speaker', 'subject'] as const) {
      const source = params[name];
      if (source !== undefined) this.#templates.set(name, this.#parse(source, name));
    }
  }

  /** Memory besides the templates' texts. */
  get bytes(): Bytes {
    const all = [...this.#templates.values()].map(({ bytes }) => bytes);
    return {
      heap: all.reduce((sum, { heap }) => sum + heap, 0),
      native: all.reduce((sum, { native }) => sum + native, 0),
    };
  }

  /** @throws InvalidParam if a template exceeds its budget */
  statements(interaction: Interaction): Statement[] {
    const view = interactionView(interaction);
    const user = this.#render('speaker', view)?.trim().slice(0, longestName);
    return this.#said(interaction, wellFormed(user || 'user')).flatMap((said) =>
      this.#statement(said, view, interaction.turnId),
    );
  }

  #statement(said: Said, view: TemplateView, turn: string): Statement[] {
    const inner = view.within({ ...said });
    const isWanted = this.#render('condition', inner)?.trim() !== '';
    const text = (this.#render('template', inner) ?? '').trim().slice(0, longestStatement);
    if (!isWanted || text === '') return [];
    const rendered = this.#render('subject', inner)?.trim().slice(0, lookedAt) ?? '';
    const subject = wellFormed(normalText(rendered).slice(0, longestName));
    const { kind, speaker } = said;
    return [{ text: wellFormed(text), kind, speaker, turn, subject, importance: this.#params.importance }];
  }

  *#all(interaction: Interaction, user: string): Generator<Said> {
    const { text, components, action, actionResult, history } = interaction;
    if (actionResult !== undefined) {
      const name = history.at(-1)?.action?.name ?? 'the action';
      yield { kind: 'observed', speaker: 'client', text: `Result of ${name}: ${shown(actionResult)}` };
    }
    yield { kind: 'said', speaker: user, text };
    for (const component of components) {
      if (component._type === 'character_reply' && 'text' in component)
        yield { kind: 'said', speaker: 'agent', text: component.text };
    }
    if (action !== undefined)
      yield { kind: 'decided', speaker: 'agent', text: `${action.name} ${shown(action.arguments)}` };
  }

  #said(interaction: Interaction, user: string): Said[] {
    const { kinds, speakers, questions } = this.#params;
    return [...this.#all(interaction, user)].filter(({ kind, speaker, text }) => {
      if (!kinds.includes(kind)) return false;
      if (kind === 'said' && !questions && isQuestion(text)) return false;
      return kind !== 'said' || speakers.includes(speaker === 'agent' ? 'agent' : 'user');
    });
  }

  #parse(source: string, name: string): Template {
    try {
      return new Template(source);
    } catch (cause) {
      const path = `${this.#where}.params.${name}`;
      const message = (cause as Error).message.slice(0, 200);
      throw serverError(4003, `${path}: not a Mustache template: ${message}`, { path }, { cause });
    }
  }

  #render(name: string, view: TemplateView): string | undefined {
    const template = this.#templates.get(name);
    if (template === undefined) return undefined;
    try {
      return template.renderView(view);
    } catch (cause) {
      const path = `${this.#where}.params.${name}`;
      fail(4003, `${path}: ${(cause as Error).message}`, { path });
    }
  }
}

/** Halves of surrogate pairs, which cuts may leave, become U+FFFD. */
const wellFormed = (text: string) => Buffer.from(text).toString();

/** Whether a text ends with a question mark, of Latin, Chinese or Arabic script; marks that close may follow. */
const isQuestion = (text: string) => /[?？؟]["'”’»)\]\s]*$/u.test(text);

const shown = (value: unknown) => (typeof value === 'string' ? value : stringifyWithWideIntegers(value));
