import type { RenderedPrompt, RenderOptions } from '../../../../lib/internal.js';
import type { Account } from '../../../fairness/account.js';
import type { ChatMessage, TextModel } from '../../../models/text-model.js';

/** The part of a TextModel that builds prompts. */
export type PromptModel = Pick<TextModel, 'facts' | 'countTokens' | 'render'>;

/**
 * Counts and renders the prompts of one turn as searches of its client: a long text takes a thread for
 * milliseconds.
 */
export class SlottedPromptModel implements PromptModel {
  readonly #model: TextModel;
  readonly #account: Account;
  readonly #signal: AbortSignal;

  constructor(model: TextModel, account: Account, signal: AbortSignal) {
    this.#model = model;
    this.#account = account;
    this.#signal = signal;
  }

  get facts(): TextModel['facts'] {
    return this.#model.facts;
  }

  /** @throws the signal's reason */
  countTokens(text: string): Promise<number> {
    return this.#account.compute('search', this.#signal, () => this.#model.countTokens(text));
  }

  /** @throws the signal's reason */
  render(messages: readonly ChatMessage[], options?: RenderOptions): Promise<RenderedPrompt> {
    return this.#account.compute('search', this.#signal, () => this.#model.render(messages, options));
  }
}
