import { createHash } from 'node:crypto';
import { countValues } from '../../../base/schema/bounded.js';
import { clientSlices } from '../../../base/waiting/next-slice.js';
import type { Account } from '../../../fairness/account.js';
import { textHeap } from '../../../fairness/estimates.js';
import type { LanguageModelPin } from '../../../models/language-models.js';
import type { GenerateRequest, GenerationResult, TextModel } from '../../../models/text-model.js';
import type { Knowledge } from '../../../protocol/components.js';
import { fail } from '../../../protocol/errors.js';
import type { Action } from '../../../protocol/history.js';
import { unknownModel } from '../../../storages/wire-errors.js';
import type { AgentMemory } from '../../agent-memory.js';
import type { Interaction } from '../../interaction.js';
import { isMemoryAction, memoryActions, runMemoryAction } from '../../memory-actions.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeResources, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { rankedKnowledge } from '../../ranked-knowledge.js';
import { checkFallback, refuseGrammar, replyGrammar } from './constraints.js';
import { refuseContradictions } from './contradictions.js';
import { engineDiagnostics } from './engine-diagnostics.js';
import { type FittedPrompt, PromptFitter } from './fit.js';
import { generationError } from './generation-error.js';
import { PromptBuilder } from './prompt.js';
import { inAccount } from './prompt-model.js';
import { bestRelevance } from './relevance.js';
import { refuseLacked } from './remote-model.js';
import { ReplyStream } from './reply-stream.js';
import { type GenerateParams, schema, schemaLimits } from './schema.js';
import { engineParams, planTokens, type TokenPlan } from './settings.js';
import { usedRecords } from './used-records.js';

/** Minimum relevance of a record that counts, for `on_no_knowledge`: more likely than not. */
const defaultRelevance = 0.5;

/** Replies with text that a language model generates from templates, history and knowledge. */
export const node: NodeType = {
  templateLength: planningCost,
  plan(id, given, where): NodePlan {
    const params = withMemoryActions(parseParams(schema.params, given, where));
    refuseContradictions(params, where);
    const builder = new PromptBuilder(params, where);
    return {
      id,
      type: schema.type,
      historyTurns: params.history.turns,
      needs: params.memory === undefined ? undefined : rememberNode(params.memory, where),
      open: async ({ languageModels, account, memory, memories, signal }) => {
        const grammar = await replyGrammar(params, where, signal);
        const texts = { heap: textHeap(grammar ?? ''), native: 0 };
        for (const bytes of [builder.bytes, texts]) memory.add(bytes, `${where}: the agent was not created`);
        const pin = await pinModel(languageModels, params, where);
        try {
          refuseLacked(params, pin, where);
          const tokens = planTokens(params, pin.facts, pin.contextSize, where);
          if (grammar !== undefined) {
            await refuseGrammar(grammar, params, where, { account, signal });
            await checkFallback(grammar, params, where, { account, signal });
          }
          return new GenerateNode(id, params, {
            ...{ pin, account, builder, tokens, grammar, where },
            memory: memories.get(params.memory ?? ''),
          });
        } catch (error) {
          pin.release();
          throw error;
        }
      },
    };
  },
};

const rememberNode = (id: string, where: string) => ({
  id,
  type: 'remember',
  path: `${where}.params.memory`,
});

/** Adds the actions of the memory, which the reply asks for as for those of the client. */
function withMemoryActions(params: GenerateParams): GenerateParams {
  if (params.memory === undefined) return params;
  return { ...params, actions: [...(params.actions ?? []), ...memoryActions] };
}

/** Characters of templates that take as long to parse as converting one value of a JSON Schema. */
const charactersPerValue = 16;

function planningCost({ system, prompt, knowledge, json_schema, actions }: Record<string, unknown>): number {
  const { item, header, footer } = (knowledge ?? {}) as Record<string, unknown>;
  const templates = [system, prompt, item, header, footer].filter((each) => typeof each === 'string');
  const { values, characters } = countValues([json_schema, actions], schemaLimits.values);
  return templates.reduce((sum, { length }) => sum + length, charactersPerValue * values + characters);
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64');

async function pinModel(
  models: NodeResources['languageModels'],
  { model, context_size }: GenerateParams,
  where: string,
): Promise<LanguageModelPin> {
  try {
    return await models.pin(model, context_size);
  } catch (error) {
    throw unknownModel(error, `${where}.params.model`, 4003);
  }
}

interface GenerateParts {
  pin: LanguageModelPin;
  account: Account;
  builder: PromptBuilder;
  tokens: TokenPlan;
  grammar: string | undefined;
  where: string;
  memory: AgentMemory | undefined;
}

class GenerateNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #params: GenerateParams;
  readonly #pin: LanguageModelPin;
  readonly #fitter: (model: TextModel, signal: AbortSignal) => PromptFitter;
  readonly #where: string;
  readonly #account: Account;
  readonly #memory: AgentMemory | undefined;
  readonly #request: Partial<GenerateRequest>;
  /** Digest of the system text of the last turn: no budget counts the text itself. */
  #system: string | undefined;

  constructor(
    id: string,
    params: GenerateParams,
    { pin, account, builder, tokens, grammar, where, memory }: GenerateParts,
  ) {
    this.id = id;
    this.#params = params;
    this.#pin = pin;
    this.#where = where;
    this.#account = account;
    this.#memory = memory;
    this.#fitter = (model, signal) =>
      new PromptFitter(builder, inAccount(model, account, signal), tokens.limits, where);
    const { json_schema: wanted } = params;
    const constraint =
      pin.facts.lacks?.includes('grammar') && wanted !== undefined ? { schema: wanted } : { grammar };
    this.#request = { ...engineParams(params), ...tokens.request, ...(grammar !== undefined && constraint) };
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const started = performance.now();
    const knowledge = rankedKnowledge(interaction);
    const relevance = await bestRelevance(knowledge, interaction.sources);
    const instead = this.#withoutKnowledge(interaction, knowledge.length > 0 ? relevance : undefined);
    if (instead !== undefined) return { report: { relevance } };
    const reply = async () => {
      using lease = await this.#pin.lease(signal);
      return await this.#reply(lease.model, interaction, knowledge, relevance, started, signal);
    };
    const { memoryAction, ...outcome } = await reply();
    // A client that is asked may take a minute: the model is not held for it.
    if (memoryAction !== undefined && this.#memory !== undefined)
      await runMemoryAction(memoryAction, this.#memory, interaction, { account: this.#account, signal });
    return outcome;
  }

  async #reply(
    model: TextModel,
    interaction: Interaction,
    knowledge: readonly Knowledge[],
    relevance: number,
    started: number,
    signal: AbortSignal,
  ): Promise<NodeOutcome & { memoryAction?: Action | undefined }> {
    const fitter = this.#fitter(model, signal);
    const prompt = await this.#translated(fitter.fit(interaction, knowledge, signal));
    const report = {
      relevance: knowledge.length === 0 ? undefined : relevance,
      ...this.#promptReport(prompt, interaction.forgottenTurns),
    };
    if (interaction.dryRun) {
      const tokens = await this.#translated(fitter.count(interaction, prompt));
      const { dropped, messages } = prompt;
      interaction.dryRuns.push({ node: this.id, tokens, dropped, messages });
      return { report };
    }
    const prepareMs = performance.now() - started;
    const { result, removedMarks, memoryAction } = await this.#translated(
      this.#generate(model, interaction, prompt, prepareMs, signal),
    );
    const { citations, sources } = interaction;
    interaction.use(await usedRecords(prompt.numbered, { node: this.id, citations }, sources, signal));
    return {
      memoryAction,
      report: {
        ...report,
        finish: result.finish,
        cached_tokens: result.usage.cached,
        completion_tokens: result.usage.completion,
        ...(this.#params.cite === 'marks' && { removed_marks: removedMarks }),
      },
      engine: engineDiagnostics(this.#pin, model.facts, this.#params.class, result, {
        prepareMs,
        dropped: prompt.dropped,
      }),
    };
  }

  async close(): Promise<void> {
    this.#pin.release();
  }

  /** Returns the result; errors of the engine become errors of the protocol. */
  #translated<Result>(work: Promise<Result>): Promise<Result> {
    return work.catch((error) => {
      throw generationError(error, this.#where);
    });
  }

  /** Replies with the fallback, or refuses, if no record is relevant. @throws NoRelevantKnowledge */
  #withoutKnowledge(interaction: Interaction, best: number | undefined): 'replied' | undefined {
    const { on_no_knowledge, fallback, min_relevance = defaultRelevance } = this.#params;
    if (on_no_knowledge === 'answer' || (best !== undefined && best >= min_relevance)) return undefined;
    const relevance = best ?? 0;
    if (on_no_knowledge === 'refuse') {
      const found = `the best record has a relevance of ${relevance.toFixed(2)}, and min_relevance is ${min_relevance}`;
      fail(4015, `the node ${JSON.stringify(this.id)}: ${found}`, {
        node: this.id,
        relevance,
        min_relevance,
      });
    }
    if (!interaction.dryRun) interaction.reply(this.id, fallback as string);
    return 'replied';
  }

  async #generate(
    model: TextModel,
    interaction: Interaction,
    prompt: FittedPrompt,
    prepareMs: number,
    signal: AbortSignal,
  ): Promise<{ result: GenerationResult; removedMarks: number; memoryAction: Action | undefined }> {
    const stream = new ReplyStream(interaction.startReply(this.id), this.#params, prompt);
    const request = {
      ...this.#request,
      ...prompt.counted.request,
      ...this.#ofTurn(prompt.parts.knowledge, prepareMs),
    };
    const generation = model.generate(request, { signal });
    // Awaited below; a failure must not be unhandled while the pieces are read.
    generation.result.catch(() => {});
    const slices = clientSlices();
    for await (const { kind, text, logprobs } of generation) {
      // A model may be faster than this: alternatives of a token are as much JSON as a page of its text.
      if (logprobs !== undefined && slices.over) await slices.next();
      if (logprobs !== undefined) stream.score(logprobs);
      if (kind === 'text') stream.push(text);
      else stream.think(text);
    }
    const result = await generation.result;
    const { action, removedMarks } = stream.finish();
    const isOwn = action !== undefined && this.#memory !== undefined && isMemoryAction(action);
    interaction.generated(this.id, result.finish, result.usage, isOwn ? undefined : action);
    return { result, removedMarks, memoryAction: isOwn ? action : undefined };
  }

  /** Fields of a request that differ from turn to turn. */
  #ofTurn(records: readonly Knowledge[], prepareMs: number): Partial<GenerateRequest> {
    const { cite, deadline_ms } = this.#params;
    const texts = records.map(({ text }) => text);
    return {
      ...(cite === 'verbatim' && { quotes: { texts } }),
      ...(deadline_ms !== undefined && { deadlineMs: Math.max(1, Math.round(deadline_ms - prepareMs)) }),
    };
  }

  #promptReport(
    { counted, parts, dropped, messages, historyStart }: FittedPrompt,
    forgotten: number,
  ): Record<string, unknown> {
    const system = digest(historyStart === 0 ? '' : (messages[0]?.content ?? ''));
    const isVolatile = this.#system !== undefined && this.#system !== system;
    this.#system = system;
    return {
      prompt_tokens: counted.tokens,
      history_turns: parts.history.length,
      knowledge_records: parts.knowledge.length,
      dropped,
      ...(forgotten > 0 && { forgotten_turns: forgotten }),
      volatile_prefix: isVolatile,
    };
  }
}
