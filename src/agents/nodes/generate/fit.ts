import type { Knowledge } from '../../../protocol/components.js';
import type { Dropped, DryRun } from '../../../protocol/engine.js';
import { fail } from '../../../protocol/errors.js';
import type { HistoryTurn } from '../../../protocol/history.js';
import type { Interaction } from '../../interaction.js';
import { type CountedPrompt, countPrompt, usualToken } from './chat-form.js';
import { borderTokens, countEach, countFirst, minTokens } from './count-each.js';
import { type Kept, leaveOut, withinBudget } from './overflow.js';
import type { PromptBuilder, PromptMessages, PromptParts } from './prompt.js';
import type { PromptModel } from './prompt-model.js';

/** Limits of a prompt. */
export interface PromptLimits {
  /** Context in tokens. */
  readonly context: number;
  /** Tokens of the context that are kept for the reply. */
  readonly reserved: number;
  /** Maximum number of tokens of all records together. */
  readonly knowledge: number | undefined;
  /** Maximum number of turns of history. */
  readonly historyTurns: number;
  readonly thinking: 'on' | 'off';
}

/** A prompt that fits. */
export interface FittedPrompt extends PromptMessages {
  readonly counted: CountedPrompt;
  readonly parts: PromptParts;
  readonly dropped: Dropped;
}

/** Builds the prompt of one turn, which fits into the model's context. */
export class PromptFitter {
  readonly #builder: PromptBuilder;
  readonly #model: PromptModel;
  readonly #limits: PromptLimits;
  readonly #where: string;

  /** `where`: the node's place in the graph. */
  constructor(builder: PromptBuilder, model: PromptModel, limits: PromptLimits, where: string) {
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
    const all = historyTurns === 0 ? [] : interaction.history.filter(hasReply).slice(-historyTurns);
    let parts: PromptParts = await this.#plausible(interaction, {
      history: all,
      knowledge: await this.#withinBudget(interaction, knowledge),
    });
    for (;;) {
      signal.throwIfAborted();
      const built = await this.#builder.build(interaction, parts);
      const most = context - reserved;
      const counted = await countPrompt(this.#model, built.messages, this.#limits.thinking, most);
      const excess = counted.tokens - most;
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
    const ends = [historyStart === 0 ? '' : messages[0]?.content, messages.at(-1)?.content];
    const [system = 0, last = 0] = await countEach(
      this.#model,
      ends.map((text) => text ?? ''),
    );
    const turns = messages.slice(historyStart, -1).map(({ content }) => content);
    const history = sum(await countEach(this.#model, turns));
    const { placement } = this.#builder;
    const inSystem = placement === 'system';
    // Where a template places records, they are part of its text. Alone, they may have more tokens than the message that holds them.
    const alone = placement === 'template' ? 0 : sum(await this.#sizes(interaction, parts.knowledge));
    const knowledge = Math.min(alone, inSystem ? system : last);
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
    return knowledge.slice(0, withinBudget(await this.#sizes(interaction, knowledge, budget), budget));
  }

  /**
   * Leaves out the oldest turns, then the lowest-ranked records, that could not fit even if nothing else were in the prompt.
   * Otherwise a long history would be rendered only to be left out.
   */
  async #plausible(interaction: Interaction, parts: PromptParts): Promise<PromptParts> {
    const { context, reserved } = this.#limits;
    const lengths = [
      ...parts.history.map(({ text, reply }) => text.length + reply.length),
      ...parts.knowledge.map(({ text }) => text.length),
    ];
    if (sum(lengths) <= context * usualToken) return parts;
    const most = context - reserved;
    const sizes = (await this.#sizes(interaction, parts.knowledge, most)).map(minTokens);
    const records = withinBudget(sizes, most);
    const turns = records < sizes.length ? 0 : await this.#newestWithin(parts.history, most - sum(sizes));
    return keep(parts, { history: turns, knowledge: records });
  }

  /** Returns how many of the newest turns may have at most `limit` tokens together. Counts no more than those. */
  async #newestWithin(history: readonly HistoryTurn[], limit: number): Promise<number> {
    let left = limit;
    for (let turns = 0; turns < history.length; turns += countedAtOnce) {
      const some = history.slice(Math.max(0, history.length - turns - countedAtOnce), history.length - turns);
      const texts = some.toReversed().map(({ text, reply }) => `${text}\n${reply}`);
      const sizes = (await countFirst(this.#model, texts, left)).map(minTokens);
      const kept = withinBudget(sizes, left);
      if (kept < sizes.length) return turns + kept;
      left -= sum(sizes);
    }
    return history.length;
  }

  async #shorter(
    interaction: Interaction,
    parts: PromptParts,
    { historyStart }: PromptMessages,
    { tokens, stopped, messageTokens }: CountedPrompt,
  ): Promise<PromptParts> {
    const { context, reserved } = this.#limits;
    const limit = context - reserved;
    const history = parts.history.map(
      (_, turn) =>
        (messageTokens[historyStart + 2 * turn] ?? 0) + (messageTokens[historyStart + 2 * turn + 1] ?? 0),
    );
    const knowledge = await this.#sizes(interaction, parts.knowledge);
    const excess = tokens - limit;
    // A record has other tokens in a prompt than alone. The possible difference is left out only once it is counted.
    const ofKnowledge = excess - sum(history);
    const certain = Math.max(ofKnowledge - borderTokens * knowledge.length, Math.ceil(ofKnowledge / 2));
    const least = ofKnowledge <= 0 ? excess : sum(history) + certain;
    const kept = leaveOut({ history, knowledge }, least) ?? this.#next(parts);
    if (kept === undefined) {
      const path = `${this.#where}.params.context_size`;
      const room = `a context of ${context} has room for ${limit} besides the ${reserved} reserved for the reply`;
      const has = `the prompt has ${stopped ? 'at least ' : ''}${tokens} tokens`;
      fail(4016, `${path}: ${has} without history and knowledge, and ${room}`, {
        path,
        tokens,
        ...(stopped && { at_least: true }),
        limit,
        context,
        reserved,
      });
    }
    return keep(parts, kept);
  }

  /** Leaves everything out before the prompt is refused, so that the error has the size of the rest. */
  #next({ history, knowledge }: PromptParts): { history: number; knowledge: number } | undefined {
    return history.length + knowledge.length === 0 ? undefined : { history: 0, knowledge: 0 };
  }

  /** Tokens of records in the prompt: of the first ones, if they must have more than `most`. */
  async #sizes(
    interaction: Interaction,
    knowledge: readonly Knowledge[],
    most = Number.POSITIVE_INFINITY,
  ): Promise<number[]> {
    const view = this.#builder.view(interaction, knowledge);
    const sizes: number[] = [];
    let left = most;
    for (let at = 0; at < knowledge.length && left >= 0; at += countedAtOnce) {
      const items = await this.#builder.items(view, knowledge.slice(at, at + countedAtOnce), at + 1);
      const texts = items.map((item) => `${item}\n\n`);
      const some = await countFirst(this.#model, texts, left);
      sizes.push(...some);
      left -= sum(some.map(minTokens));
    }
    return sizes;
  }
}

/** Returns the newest turns and the best records, as many as are kept. Default: none. */
/** Whether a turn can stand in a prompt: templates of some models refuse an empty message of the assistant. */
const hasReply = ({ reply, action }: HistoryTurn) => reply.trim() !== '' || action !== undefined;

function keep({ history, knowledge }: PromptParts, kept: Kept = { history: 0, knowledge: 0 }): PromptParts {
  return {
    history: kept.history === 0 ? [] : history.slice(-kept.history),
    knowledge: knowledge.slice(0, kept.knowledge),
  };
}

/** Records or turns whose tokens are counted in one call. */
const countedAtOnce = 64;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
