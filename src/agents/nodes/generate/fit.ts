import type { TextModel } from '../../../catalog/text-model.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { Dropped, DryRun } from '../../../protocol/engine.js';
import { fail } from '../../../protocol/errors.js';
import type { Interaction } from '../../interaction.js';
import { interactionView } from '../../template.js';
import { type CountedPrompt, countPrompt } from './chat-form.js';
import { countEach } from './count-each.js';
import { type Kept, leaveOut, withinBudget } from './overflow.js';
import type { PromptBuilder, PromptMessages, PromptParts } from './prompt.js';

/** What a prompt may take. */
export interface PromptLimits {
  /** Context in tokens. */
  readonly context: number;
  /** Tokens of the context that are kept for the reply. */
  readonly reserved: number;
  /** Most tokens of all records together. */
  readonly knowledge: number | undefined;
  /** Most turns of history. */
  readonly historyTurns: number;
  readonly thinking: 'on' | 'off';
}

/** A prompt that fits. */
export interface FittedPrompt extends PromptMessages {
  readonly counted: CountedPrompt;
  readonly parts: PromptParts;
  readonly dropped: Dropped;
}

/** Builds prompts that fit into a model's context. */
export class PromptFitter {
  readonly #builder: PromptBuilder;
  readonly #model: TextModel;
  readonly #limits: PromptLimits;
  readonly #where: string;

  /** `where`: the node's place in the graph. */
  constructor(builder: PromptBuilder, model: TextModel, limits: PromptLimits, where: string) {
    this.#builder = builder;
    this.#model = model;
    this.#limits = limits;
    this.#where = where;
  }

  /**
   * Counts the whole prompt first. If it is too long, leaves out the oldest turns of history, then the lowest-ranked
   * knowledge, each as a whole. @throws PromptTooLong with both numbers if that is not enough; the signal's reason
   */
  async fit(
    interaction: Interaction,
    knowledge: readonly Knowledge[],
    signal: AbortSignal,
  ): Promise<FittedPrompt> {
    const { historyTurns, context, reserved } = this.#limits;
    const all = historyTurns === 0 ? [] : interaction.history.slice(-historyTurns);
    let parts: PromptParts = await this.#shortEnough(interaction, {
      history: all,
      knowledge: await this.#withinBudget(interaction, knowledge),
    });
    for (;;) {
      signal.throwIfAborted();
      const built = await this.#builder.build(interaction, parts);
      const counted = await countPrompt(this.#model, built.messages, this.#limits.thinking);
      const excess = counted.tokens - (context - reserved);
      if (excess <= 0) {
        const dropped = {
          history_turns: all.length - parts.history.length,
          knowledge: knowledge.length - parts.knowledge.length,
        };
        return { ...built, counted, parts, dropped };
      }
      parts = await this.#shorter(interaction, parts, built, counted);
    }
  }

  /** Counts the tokens of a prompt's parts, for a dry run. */
  async count(
    interaction: Interaction,
    { counted, parts, messages, historyStart }: FittedPrompt,
  ): Promise<DryRun['tokens']> {
    const { context, reserved } = this.#limits;
    const system = historyStart === 0 ? 0 : await this.#model.countTokens(messages[0]?.content ?? '');
    const turns = messages.slice(historyStart, -1).map(({ content }) => content);
    const history = sum(await countEach(this.#model, turns));
    const knowledge = sum(await this.#sizes(interaction, parts.knowledge));
    const last = await this.#model.countTokens(messages.at(-1)?.content ?? '');
    const inSystem = this.#builder.placement === 'system';
    const [ownSystem, prompt] = inSystem ? [system - knowledge, last] : [system, last - knowledge];
    const total = counted.tokens;
    const template = total - ownSystem - history - knowledge - prompt;
    return { system: ownSystem, history, knowledge, prompt, template, total, reserved, context };
  }

  async #withinBudget(
    interaction: Interaction,
    knowledge: readonly Knowledge[],
  ): Promise<readonly Knowledge[]> {
    const { knowledge: budget } = this.#limits;
    if (budget === undefined) return knowledge;
    return knowledge.slice(0, withinBudget(await this.#sizes(interaction, knowledge), budget));
  }

  /**
   * Leaves out what makes a prompt too long whatever its tokens are: the oldest turns, then the lowest-ranked records. So a
   * long history is not converted only to be left out.
   */
  async #shortEnough(interaction: Interaction, parts: PromptParts): Promise<PromptParts> {
    const most = this.#limits.context * longestToken;
    const history = parts.history.map(({ text, reply }) => text.length + reply.length);
    const texts = parts.knowledge.map(({ text }) => text.length);
    if (sum(history) + sum(texts) <= most) return parts;
    const view = interactionView(interaction, parts.knowledge);
    const items = await this.#builder.items(view, parts.knowledge);
    const knowledge = items.map(({ length }) => length);
    return keep(parts, leaveOut({ history, knowledge }, sum(history) + sum(knowledge) - most));
  }

  async #shorter(
    interaction: Interaction,
    parts: PromptParts,
    { historyStart }: PromptMessages,
    { tokens, messageTokens }: CountedPrompt,
  ): Promise<PromptParts> {
    const { context, reserved } = this.#limits;
    const limit = context - reserved;
    const history = parts.history.map(
      (_, turn) =>
        (messageTokens[historyStart + 2 * turn] ?? 0) + (messageTokens[historyStart + 2 * turn + 1] ?? 0),
    );
    const knowledge = await this.#sizes(interaction, parts.knowledge);
    const kept = leaveOut({ history, knowledge }, tokens - limit) ?? this.#next(parts);
    if (kept === undefined) {
      const path = `${this.#where}.params.context_size`;
      const room = `a context of ${context} leaves ${limit} beside the ${reserved} kept for the reply`;
      fail(4016, `${path}: the prompt has ${tokens} tokens without history and knowledge, and ${room}`, {
        path,
        tokens,
        limit,
        context,
        reserved,
      });
    }
    return keep(parts, kept);
  }

  /** Everything is left out before a prompt is refused, so that the error tells what the rest takes. */
  #next({ history, knowledge }: PromptParts): { history: number; knowledge: number } | undefined {
    return history.length + knowledge.length === 0 ? undefined : { history: 0, knowledge: 0 };
  }

  /** Tokens of records in the prompt. */
  async #sizes(interaction: Interaction, knowledge: readonly Knowledge[]): Promise<number[]> {
    const view = interactionView(interaction, knowledge);
    const sizes: number[] = [];
    for (let at = 0; at < knowledge.length; at += countedAtOnce) {
      const items = await this.#builder.items(view, knowledge.slice(at, at + countedAtOnce), at + 1);
      const texts = items.map((item) => `${item}\n\n`);
      sizes.push(...(await countEach(this.#model, texts)));
    }
    return sizes;
  }
}

/** Returns the newest turns and the best records, as many as are kept. Default: none. */
function keep({ history, knowledge }: PromptParts, kept: Kept = { history: 0, knowledge: 0 }): PromptParts {
  return {
    history: kept.history === 0 ? [] : history.slice(-kept.history),
    knowledge: knowledge.slice(0, kept.knowledge),
  };
}

/** Records whose tokens are counted at once. */
const countedAtOnce = 64;

/** No token stands for more characters. */
const longestToken = 1024;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
