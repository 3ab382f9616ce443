import { samplingOptions } from '../../../lib/basics.js';
import type { ChatMessage, GenerateRequest } from '../text-model.js';
import type { RemoteSettings } from './settings.js';

type SamplingName = keyof typeof samplingOptions;
type Names = Readonly<Partial<Record<SamplingName, string>>>;

const standard: Names = {
  temperature: 'temperature',
  topP: 'top_p',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
};

/** The names that each kind of server has for the options of sampling. */
const names: Readonly<Record<RemoteSettings['api'], Names>> = {
  openai: standard,
  tei: standard,
  'llama-server': {
    ...standard,
    topK: 'top_k',
    minP: 'min_p',
    repeatPenalty: 'repeat_penalty',
    penaltyLastN: 'repeat_last_n',
  },
  vllm: { ...standard, topK: 'top_k', minP: 'min_p', repeatPenalty: 'repetition_penalty' },
};

/** OpenAI takes no more stop texts. Others are looked for here. */
const mostStops = 4;

/** Returns the options of a request that a kind of server does not have. */
export const lackedOptions = (api: RemoteSettings['api']): string[] => [
  ...Object.keys(samplingOptions).filter((name) => names[api][name as SamplingName] === undefined),
  ...['grammar', 'quotes'],
];

/** Returns the body of a request for a streamed reply. */
export function chatBody(
  { api, model }: RemoteSettings,
  messages: readonly ChatMessage[],
  request: GenerateRequest,
  { maxTokens, seed }: { maxTokens: number; seed: number },
): object {
  const { sampling = {}, stop = [], schema, logprobs } = request;
  const options = Object.entries(names[api]).map(([name, field]) => [
    field,
    sampling[name as SamplingName] ?? samplingOptions[name as SamplingName].usual,
  ]);
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    seed,
    ...Object.fromEntries(options),
    ...(stop.length > 0 && { stop: stop.slice(0, mostStops) }),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
    ...(schema !== undefined && {
      response_format: { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema } },
    }),
    // Nobody asked for thinking; models that think would do so by default.
    ...((api === 'llama-server' || api === 'vllm') && {
      chat_template_kwargs: { enable_thinking: false },
    }),
  };
}
