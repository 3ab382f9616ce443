import type { TokenLogprob, TokenLogprobs } from '../../../models/text-model.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { TokenLogprobs as ShownLogprobs } from '../../../protocol/engine.js';
import type { Action } from '../../../protocol/history.js';
import type { OwnCitation } from '../../interaction.js';
import type { ReplyWriter } from '../../reply-writer.js';
import { ActionSplitter } from './actions.js';
import { Delivery, type Pace } from './delivery.js';
import type { FittedPrompt } from './fit.js';
import { MarkFilter } from './marks.js';
import { quotations } from './quotations.js';
import type { GenerateParams } from './schema.js';

/** Results of a reply besides its text. */
export interface ReplyOutcome {
  readonly action: Action | undefined;
  readonly removedMarks: number;
}

/** Passes a model's text to the client at the pace of the class, without actions and without marks of unknown records. */
export class ReplyStream {
  readonly #writer: ReplyWriter;
  readonly #best: readonly Knowledge[];
  readonly #cite: GenerateParams['cite'];
  readonly #actions: ActionSplitter | undefined;
  readonly #marks: MarkFilter | undefined;
  readonly #reply: Delivery;
  readonly #thinking: Delivery;

  constructor(
    writer: ReplyWriter,
    params: GenerateParams,
    { numbered, parts }: Pick<FittedPrompt, 'numbered' | 'parts'>,
  ) {
    const pace = paceOf(params);
    this.#writer = writer;
    this.#best = parts.knowledge;
    this.#cite = params.cite;
    this.#actions = params.actions && new ActionSplitter();
    this.#marks = params.cite === 'marks' ? new MarkFilter(numbered) : undefined;
    this.#reply = new Delivery(pace, (text) => writer.write(text));
    this.#thinking = new Delivery(pace, (text) => writer.think(text));
  }

  think(text: string): void {
    this.#thinking.push(text);
  }

  /** Takes tokens of the reply, whose text is pushed now or later. @throws InteractionTooLarge */
  score(tokens: readonly TokenLogprobs[]): void {
    this.#writer.score(tokens.map(shownLogprobs));
  }

  push(text: string): void {
    this.#thinking.finish();
    const own = this.#actions?.push(text) ?? text;
    this.#reply.push(this.#marks?.push(own) ?? own);
  }

  /** Sends the rest and appends the reply with its citations. */
  finish(): ReplyOutcome {
    this.#thinking.finish();
    this.#reply.push(this.#marks?.finish() ?? '');
    this.#reply.finish();
    this.#writer.end(this.#citations());
    return { action: this.#actions?.finish(), removedMarks: this.#marks?.removed ?? 0 };
  }

  #citations(): OwnCitation[] {
    if (this.#cite === 'verbatim') return quotations(this.#writer.text, this.#best);
    return this.#marks?.citations ?? [];
  }
}

/** Log-probabilities below this one are not told apart, so that -Infinity is a number of JSON. */
const leastLogprob = -9999;

function shownLogprobs({ top, ...own }: TokenLogprobs): ShownLogprobs {
  const shown = ({ bytes, logprob }: TokenLogprob) => ({
    token: Buffer.from(bytes).toString('utf8'),
    bytes: [...bytes],
    logprob: Math.max(leastLogprob, logprob),
  });
  return { ...shown(own), top_logprobs: top.map(shown) };
}

function paceOf({ stream, class: consumer }: GenerateParams): Pace {
  if (stream === false || consumer === 'background') return 'end';
  return consumer === 'interactive_buffered' ? 'sentence' : 'piece';
}
