import { mapInSlices } from '../../../base/waiting/next-slice.js';
import { type Bytes, noBytes, sumOf } from '../../../fairness/bytes.js';
import type { ChatMessage } from '../../../models/text-model.js';
import type { Knowledge } from '../../../protocol/components.js';
import { fail, serverError } from '../../../protocol/errors.js';
import type { HistoryTurn } from '../../../protocol/history.js';
import type { Interaction } from '../../interaction.js';
import { interactionView, Template, type TemplateView } from '../../template.js';
import { actionText, describeActions, describeResult } from './action-text.js';
import { defaultHeader, defaultPrompt, defaultSystem } from './default-texts.js';
import { type Instead, plainInSlices, withoutMarks } from './marks.js';
import type { GenerateParams } from './schema.js';

/** Longest message of Mustache that is sent to a client, in characters; it may quote the template. */
const longestReason = 200;

/** Parts of a prompt. */
export interface PromptParts {
  /** Turns of history, oldest first. */
  readonly history: readonly HistoryTurn[];
  /** Best first. */
  readonly knowledge: readonly Knowledge[];
}

/** A prompt as messages. The first turn of the history is at `historyStart`, two messages per turn. */
export interface PromptMessages {
  readonly messages: ChatMessage[];
  readonly historyStart: number;
  /** The records in the order of their numbers: the first is [1]. */
  readonly numbered: readonly Knowledge[];
}

/** Builds the messages of a node's prompts from its templates. */
export class PromptBuilder {
  readonly #params: GenerateParams;
  readonly #templates: Readonly<
    Partial<Record<'system' | 'prompt' | 'item' | 'header' | 'footer', Template>>
  >;
  readonly #where: string;

  /** `where`: the node's place in the graph. @throws InvalidParam for a template that cannot be parsed */
  constructor(params: GenerateParams, where: string) {
    const { system, prompt, knowledge } = params;
    const { item, header, footer } = knowledge;
    this.#params = params;
    this.#where = where;
    const sources = { system, prompt, item, header, footer };
    this.#templates = Object.fromEntries(
      Object.entries(sources)
        .filter(([, source]) => source !== undefined)
        .map(([name, source]) => [name, this.#parse(name, source as string)]),
    );
  }

  get placement(): GenerateParams['knowledge']['placement'] {
    return this.#params.knowledge.placement;
  }

  /** Memory of the templates besides their texts. */
  get bytes(): Bytes {
    return Object.values(this.#templates)
      .map(({ bytes }) => bytes)
      .reduce(sumOf, noBytes);
  }

  /** @throws InvalidParam if a template fails or the user message is blank */
  async build(interaction: Interaction, { history, knowledge }: PromptParts): Promise<PromptMessages> {
    const { placement, order = defaultOrder(this.#params) } = this.#params.knowledge;
    const numbered = order === 'reversed' ? knowledge.toReversed() : [...knowledge];
    const view = this.view(interaction, numbered);
    const block = placement === 'template' ? '' : await this.#block(view, numbered);
    const system = joined([
      this.#system(view, knowledge.length > 0),
      placement === 'system' ? block : '',
      describeActions(this.#params.actions),
    ]);
    const messages: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }];
    const historyStart = messages.length;
    for (const [at, turn] of history.entries())
      messages.push(...(await this.#turnMessages(turn, history[at - 1], numbered)));
    const asked = await this.#asked(view, interaction.text, numbered);
    const { actionResult } = interaction;
    const result = actionResult === undefined ? '' : describeResult(interaction.history.at(-1), actionResult);
    const content = joined([
      await this.#plain(result, numbered),
      placement === 'before_user' ? block : '',
      asked,
    ]);
    messages.push({ role: 'user', content });
    return { messages, historyStart, numbered };
  }

  /** The view that templates render. `numbered`: the records in the order of their numbers. */
  view(interaction: Interaction, numbered: readonly Knowledge[]): TemplateView {
    const { length } = numbered;
    // Templates bound the length of all texts that they write.
    const written = (text: string) => withoutMarks(text, length, 'parentheses');
    return interactionView(interaction, numbered, this.#params.cite === 'marks' ? written : undefined);
  }

  /** Returns the form of an outside text in the prompt. With `cite` "marks" its own marks are changed: only the node numbers records. */
  async #plain(text: string, { length }: readonly Knowledge[], instead: Instead = 'parentheses') {
    return this.#params.cite === 'marks' ? plainInSlices(text, length, instead) : text;
  }

  /** The texts of records, as in the prompt; the first has the number `from`. */
  items(view: TemplateView, records: readonly Knowledge[], from = 1): Promise<string[]> {
    return mapInSlices(records, (record, index) => this.#item(view, record, from + index), 1);
  }

  #item(view: TemplateView, record: Knowledge, number: number): string {
    const { item } = this.#templates;
    const marked = this.#params.cite === 'marks';
    if (item === undefined) return marked ? `[${number}] ${view.written(record.text)}` : record.text;
    return this.#render('item', view.within({ ...record, number }));
  }

  async #block(view: TemplateView, numbered: readonly Knowledge[]): Promise<string> {
    if (numbered.length === 0) return '';
    const items = await this.items(view, numbered);
    const block = joined([this.#render('header', view), ...items, this.#render('footer', view)]);
    return this.#templates.header === undefined ? `${defaultHeader}\n${block}` : block;
  }

  async #asked(view: TemplateView, text: string, numbered: readonly Knowledge[]): Promise<string> {
    const own = this.#templates.prompt !== undefined;
    const grounded = numbered.length > 0;
    const asked = own ? this.#render('prompt', view) : await this.#plain(text, numbered);
    if (asked.trim() === '') this.#refuse('prompt', 'renders to an empty message');
    return own || !grounded || this.placement !== 'before_user'
      ? asked
      : defaultPrompt(asked, this.#params.cite);
  }

  /**
   * Returns the two messages of a turn. `before` is the previous turn: this turn may have the result of its action. Marks in
   * the reply refer to records of another prompt.
   */
  async #turnMessages(
    { text, reply, action, action_result }: HistoryTurn,
    before: HistoryTurn | undefined,
    numbered: readonly Knowledge[],
  ): Promise<ChatMessage[]> {
    const result = action_result === undefined ? '' : describeResult(before, action_result);
    const asked = await this.#plain(joined([result, text]), numbered);
    const unmarked = await this.#plain(reply, numbered, 'nothing');
    // A reply of nothing but marks must not become an empty message.
    const replied = unmarked.trim() === '' ? await this.#plain(reply, numbered) : unmarked;
    return [
      { role: 'user', content: asked },
      { role: 'assistant', content: joined([replied, action === undefined ? '' : actionText(action)]) },
    ];
  }

  #system(view: TemplateView, grounded: boolean): string {
    if (this.#templates.system !== undefined) return this.#render('system', view);
    return grounded ? defaultSystem[this.#params.cite] : '';
  }

  #parse(name: string, source: string): Template {
    try {
      return new Template(source);
    } catch (cause) {
      const path = this.#path(name);
      const message = (cause as Error).message.slice(0, longestReason);
      throw serverError(4003, `${path}: not a Mustache template: ${message}`, { path }, { cause });
    }
  }

  #render(name: 'system' | 'prompt' | 'item' | 'header' | 'footer', view: TemplateView): string {
    try {
      return this.#templates[name]?.renderView(view) ?? '';
    } catch (cause) {
      const path = this.#path(name);
      throw serverError(4003, `${path}: ${(cause as Error).message}`, { path }, { cause });
    }
  }

  #path(name: string): string {
    const parent = name === 'system' || name === 'prompt' ? '' : 'knowledge.';
    return `${this.#where}.params.${parent}${name}`;
  }

  #refuse(name: string, problem: string): never {
    const path = this.#path(name);
    fail(4003, `${path}: ${problem}`, { path });
  }
}

/** Small models use the record next to the message most. Numbered records keep their order: the best is [1]. */
function defaultOrder({ cite, knowledge }: GenerateParams): 'rank' | 'reversed' {
  return knowledge.placement === 'before_user' && cite !== 'marks' ? 'reversed' : 'rank';
}

/** Parts with a blank line between them; empty ones leave nothing. */
function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
