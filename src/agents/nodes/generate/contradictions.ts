import { anyQuotationMark } from '../../../../lib/internal.js';
import { fail } from '../../../protocol/errors.js';
import { memoryActions } from '../../memory-actions.js';
import type { GenerateParams } from './schema.js';

/** A pair of params that cannot be used together: the path of the one to blame, and why. */
interface Contradiction {
  readonly path: string;
  readonly problem: string;
}

/** Refuses params that contradict each other or would have no effect. @throws InvalidParam with the path in the graph */
export function refuseContradictions(params: GenerateParams, where: string): void {
  for (const { path, problem } of contradictions(params)) {
    const place = `${where}.params.${path}`;
    fail(4003, `${place}: ${problem}`, { path: place });
  }
}

function* contradictions(params: GenerateParams): Generator<Contradiction> {
  yield* ofConstraints(params);
  yield* ofCitations(params);
  yield* ofKnowledge(params);
  yield* withoutKnowledge(params);
  if (params.prompt !== undefined && params.prompt.trim() === '')
    yield { path: 'prompt', problem: 'is blank; the model would get no message' };
  const { stream, context_size, max_tokens, penalty_last_n } = params;
  const penalties = ['repeat_penalty', 'frequency_penalty', 'presence_penalty'] as const;
  if (penalty_last_n !== undefined && penalties.every((name) => params[name] === undefined))
    yield { path: 'penalty_last_n', problem: `has no effect without one of ${penalties.join(', ')}` };
  if (stream === true && params.class === 'background')
    yield { path: 'stream', problem: 'the class background sends its text at the end; remove this param' };
  if (context_size !== undefined && max_tokens !== undefined && max_tokens >= context_size) {
    const room = `leaves no room for the prompt in a context_size of ${context_size}`;
    yield { path: 'max_tokens', problem: `${max_tokens} ${room}` };
  }
}

/** Refuses several params that constrain the reply. */
function* ofConstraints({
  json_schema,
  grammar,
  actions,
  memory,
  cite,
  stop,
}: GenerateParams): Generator<Contradiction> {
  // The memory's own actions are the last ones.
  const asking =
    memory !== undefined && (actions?.length ?? 0) <= memoryActions.length ? 'memory' : 'actions';
  const whole = json_schema !== undefined ? 'json_schema' : grammar !== undefined ? 'grammar' : undefined;
  if (json_schema !== undefined && grammar !== undefined)
    yield { path: 'grammar', problem: 'one of json_schema and grammar is expected, not both' };
  if (whole !== undefined && actions !== undefined)
    yield { path: asking, problem: `an action has its own form, which ${whole} does not allow` };
  if (whole !== undefined && cite !== 'none')
    yield { path: 'cite', problem: `${JSON.stringify(cite)} cites in plain text, which ${whole} replaces` };
  if (actions !== undefined && cite === 'verbatim')
    yield { path: 'cite', problem: `"verbatim" and ${asking} both constrain the reply; use "marks"` };
  const constrained = whole ?? (actions === undefined ? undefined : asking);
  if (stop !== undefined && constrained !== undefined)
    yield { path: 'stop', problem: `a stop text could cut what ${constrained} guarantees` };
  const names = (actions ?? []).map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  const first = names.indexOf(names[twice] ?? '');
  if (twice >= 0 && memory !== undefined && twice >= names.length - memoryActions.length) {
    const problem = `${JSON.stringify(names[twice])} is an action of the memory`;
    yield { path: `actions[${first}].name`, problem };
  } else if (twice >= 0)
    yield { path: `actions[${twice}].name`, problem: `${JSON.stringify(names[twice])} is used twice` };
}

/** Refuses citations whose source cannot be in the prompt, or whose mark cannot be in the reply. */
function* ofCitations({
  cite,
  stop,
  knowledge,
  system = '',
  prompt = '',
}: GenerateParams): Generator<Contradiction> {
  if (cite === 'none') return;
  const sign = cite === 'marks' ? /^[[\]]$/ : new RegExp(`^${anyQuotationMark.source}$`);
  const cutting = (stop ?? []).findIndex((text) => sign.test(text));
  if (cutting >= 0) {
    const problem = `would end the reply at the first citation of cite ${JSON.stringify(cite)}`;
    yield { path: `stop[${cutting}]`, problem };
  }
  if (cite !== 'marks') return;
  const problem = 'has no {{number}}, which the model needs to cite records with cite "marks"';
  const { item, placement } = knowledge;
  if (placement === 'template') {
    if (![system, prompt].some((text) => mentions(text, 'number')))
      yield { path: system === '' ? 'prompt' : 'system', problem };
  } else if (item !== undefined && !mentions(item, 'number')) {
    yield { path: 'knowledge.item', problem };
  }
}

/** The params that belong to `on_no_knowledge`. */
function* withoutKnowledge({
  fallback,
  on_no_knowledge,
  min_relevance,
  json_schema,
}: GenerateParams): Generator<Contradiction> {
  if (on_no_knowledge === 'fallback' && fallback === undefined)
    yield { path: 'fallback', problem: 'is missing; on_no_knowledge "fallback" replies with it' };
  if (on_no_knowledge !== 'fallback' && fallback !== undefined)
    yield { path: 'fallback', problem: 'has no effect without on_no_knowledge "fallback"' };
  if (on_no_knowledge === 'answer' && min_relevance !== undefined)
    yield { path: 'min_relevance', problem: 'has no effect with on_no_knowledge "answer"' };
  if (fallback !== undefined && json_schema !== undefined && !isJson(fallback))
    yield { path: 'fallback', problem: 'is not JSON; with json_schema every reply must be JSON' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** With placement "template", the templates of the node show the records. */
function* ofKnowledge({ knowledge, system = '', prompt = '' }: GenerateParams): Generator<Contradiction> {
  if (knowledge.placement !== 'template') return;
  for (const name of ['item', 'header', 'footer'] as const) {
    if (knowledge[name] !== undefined)
      yield { path: `knowledge.${name}`, problem: 'has no effect with placement "template"' };
  }
  if (mentions(system, 'knowledge') || mentions(prompt, 'knowledge')) return;
  const problem = 'neither system nor prompt has {{#knowledge}}, so the prompt would have no records';
  yield { path: 'knowledge.placement', problem };
}

const tags = {
  knowledge: /\{\{\s*(?:[#&{^]\s*)?knowledge/,
  number: /\{\{\s*(?:[#&{^]\s*)?number/,
};

/** Whether a tag begins with the name. In linear time: blanks are matched once. */
function mentions(template: string, name: keyof typeof tags): boolean {
  return tags[name].test(template);
}
