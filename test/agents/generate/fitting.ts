import { Interaction } from '../../../src/agents/interaction.js';
import { type FittedPrompt, PromptFitter } from '../../../src/agents/nodes/generate/fit.js';
import { PromptBuilder } from '../../../src/agents/nodes/generate/prompt.js';
import { type GenerateParams, schema } from '../../../src/agents/nodes/generate/schema.js';
import type { Knowledge } from '../../../src/protocol/components.js';
import type { HistoryTurn } from '../../../src/protocol/history.js';
import { FakeTextModel } from '../../helpers/fake-text-model.js';

const word = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}${i}`).join(' ');

/** Turns of 6 words: 10 tokens each. */
export const turnsOf = (count: number): HistoryTurn[] =>
  Array.from({ length: count }, (_, turn) => ({
    text: word(`text${turn}.`, 3),
    reply: word(`reply${turn}.`, 3),
  }));

/** Records of 12 words, best first. */
export const recordsOf = (count: number): Knowledge[] =>
  Array.from({ length: count }, (_, index) => ({
    _type: 'knowledge',
    node: 'kb',
    storage: 'docs',
    id: `r${index}`,
    text: word(`record${index}.`, 12),
    rank: index + 1,
    score: 1 / (index + 1),
  }));

export interface FittingOptions {
  context: number;
  /** Turns, or how many. */
  history: number | HistoryTurn[];
  records: number | Knowledge[];
  /** The user's message, or its words. */
  message: number | string;
  system?: string;
  turns?: number;
  knowledge?: object;
  model?: FakeTextModel;
}

/** Fits a prompt into a context of which 32 tokens are kept for the reply. */
export async function fittedWith(options: FittingOptions): Promise<{
  fitted: FittedPrompt;
  limit: number;
  count: () => ReturnType<PromptFitter['count']>;
}> {
  const { context, history, records, message, system = 'Be brief.', turns = 100, knowledge = {} } = options;
  const model = options.model ?? new FakeTextModel();
  const params: GenerateParams = schema.params.parse({ system, knowledge: { header: '', ...knowledge } });
  const reserved = 32;
  const limits = {
    context,
    reserved,
    knowledge: params.knowledge.max_tokens,
    historyTurns: turns,
    thinking: 'off',
  } as const;
  const fitter = new PromptFitter(
    new PromptBuilder(params, 'graph.nodes[0]'),
    model,
    limits,
    'graph.nodes[0]',
  );
  const interaction = new Interaction(
    typeof message === 'string' ? message : word('message', message),
    {},
    { history: { turns: typeof history === 'number' ? turnsOf(history) : history } },
  );
  const best = typeof records === 'number' ? recordsOf(records) : records;
  const fitted = await fitter.fit(interaction, best, new AbortController().signal);
  return { fitted, limit: context - reserved, count: () => fitter.count(interaction, fitted) };
}
