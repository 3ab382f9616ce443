import type { LanguageModelNumbers, SchedulerClassStats, SchedulerStats } from '../../../lib/internal.js';
import type { MetricFamily } from './metric-family.js';

/** Sources of the metrics of language models. */
export interface InferenceSources {
  scheduler(): SchedulerStats;
  /** Number of clients that report a throttle level. */
  throttling(): number;
  /** Loaded language models. */
  languageModels(): Promise<readonly { name: string; numbers?: LanguageModelNumbers | undefined }[]>;
  /** Models that other servers compute, and whether their requests fail at once. */
  remoteModels(): readonly { model: string; isOpen: boolean }[];
}

type Type = MetricFamily['type'];

const classNames = {
  interactiveVisible: 'interactive_visible',
  interactiveBuffered: 'interactive_buffered',
  background: 'background',
} as const;
const classes = Object.keys(classNames) as (keyof typeof classNames)[];

/** The scheduler's counts, most of them by class. Prometheus derives tokens per second. */
export function schedulerFamilies({ scheduler, throttling }: InferenceSources): MetricFamily[] {
  const one = (name: string, help: string, read: () => number): MetricFamily => ({
    type: 'gauge',
    name: `lorekeep_${name}`,
    help,
    read: (add) => add(read()),
  });
  const byClass = (type: Type, name: string, help: string, read: (of: SchedulerClassStats) => number) => ({
    type,
    name: `lorekeep_${name}`,
    help,
    read(add: Parameters<MetricFamily['read']>[0]) {
      const stats = scheduler();
      for (const each of classes) add(read(stats[each]), { class: classNames[each] });
    },
  });
  return [
    byClass('counter', 'generation_tokens_total', 'Generated tokens by class.', (of) => of.decodeTokens),
    byClass('counter', 'prompt_tokens_total', 'Processed prompt tokens by class.', (of) => of.prefillTokens),
    byClass(
      'gauge',
      'generation_longest_wait_seconds',
      'Longest wait of a request for a step since the start, by class.',
      (of) => of.longestWaitMs / 1000,
    ),
    byClass('gauge', 'generations_running', 'Generations under way, by class.', (of) => of.running),
    byClass(
      'gauge',
      'generations_queued',
      'Generations that wait for room in the cache, by class.',
      (of) => of.queued,
    ),
    one('throttle', 'The highest throttle level that a client reports.', () => scheduler().throttle),
    one('throttling_clients', 'Clients that report a throttle level.', throttling),
  ];
}

/** The KV cache of each loaded language model, and its hits by prompt tokens. */
export function modelFamilies({ languageModels, remoteModels }: InferenceSources): MetricFamily[] {
  let reading: ReturnType<typeof languageModels> | undefined;
  // The metrics of one scrape share one reading, which waits for a step of the inference thread.
  const models = () => {
    reading ??= languageModels().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const byModel = (type: Type, name: string, help: string, field: keyof LanguageModelNumbers) => ({
    type,
    name: `lorekeep_model_${name}`,
    help,
    async read(add: Parameters<MetricFamily['read']>[0]) {
      for (const { name: model, numbers } of await models())
        if (numbers !== undefined) add(numbers[field], { model });
    },
  });
  return [
    byModel('gauge', 'cells', 'Tokens that the KV cache of a language model holds at most.', 'cells'),
    byModel('gauge', 'cells_used', 'Tokens in the KV cache of a language model.', 'cellsUsed'),
    byModel(
      'counter',
      'prompt_tokens_total',
      'Tokens of all prompts since the model was loaded.',
      'promptTokens',
    ),
    byModel(
      'counter',
      'cached_prompt_tokens_total',
      'Those of them that were in the KV cache.',
      'cachedTokens',
    ),
    byModel(
      'counter',
      'parked_requests_total',
      'Times that a request gave its place in the KV cache to one of a better class.',
      'parked',
    ),
    {
      type: 'gauge',
      name: 'lorekeep_remote_model_paused',
      help: 'Whether requests of a remote model fail at once, because its server does not answer (1), or not (0).',
      read: (add) => {
        for (const { model, isOpen } of remoteModels()) add(Number(isOpen), { model });
      },
    },
  ];
}
