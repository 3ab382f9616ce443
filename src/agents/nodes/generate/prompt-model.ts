import type { Account } from '../../../fairness/account.js';
import type { TextModel } from '../../../models/text-model.js';

/** The part of a TextModel that builds prompts. */
export type PromptModel = Pick<TextModel, 'facts' | 'countTokens' | 'render'>;

/**
 * Returns a model that counts and renders the prompts of one turn as searches of its client: a long text takes a thread for
 * milliseconds. Its methods throw the signal's reason.
 */
export function inAccount(model: PromptModel, account: Account, signal: AbortSignal): PromptModel {
  return {
    facts: model.facts,
    countTokens: (text) => account.compute('search', signal, () => model.countTokens(text, { signal })),
    render: (messages, options) =>
      account.compute('search', signal, () => model.render(messages, { ...options, signal })),
  };
}
