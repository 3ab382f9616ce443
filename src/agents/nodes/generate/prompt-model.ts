import type { RenderedPrompt, RenderOptions } from '../../../../lib/internal.js';
import { inSlot, type SlotShare } from '../../../fairness/fair-slots.js';
import type { ChatMessage, TextModel } from '../../../models/text-model.js';

/** The part of a TextModel that builds prompts. */
export type PromptModel = Pick<TextModel, 'facts' | 'countTokens' | 'render'>;

/**
 * Counts and renders the prompts of one turn in its client's share of the search threads: a long text
 * takes one for milliseconds.
 */
export class SlottedPromptModel implements PromptModel {
  readonly #model: TextModel;
  readonly #threads: SlotShare;
  readonly #signal: AbortSignal;

  constructor(model: TextModel, threads: SlotShare, signal: AbortSignal) {
    this.#model = model;
    this.#threads = threads;
    this.#signal = signal;
  }

  get facts(): TextModel['facts'] {
    return this.#model.facts;
  }

  /** @throws the signal's reason */
  countTokens(text: string): Promise<number> {
    return inSlot(this.#threads, this.#signal, () => this.#model.countTokens(text));
  }

  /** @throws the signal's reason */
  render(messages: readonly ChatMessage[], options?: RenderOptions): Promise<RenderedPrompt> {
    return inSlot(this.#threads, this.#signal, () => this.#model.render(messages, options));
  }
}
