import type { Calibration, Storage } from '../../lib/internal.js';
import type { Bytes } from '../fairness/bytes.js';
import type { AsOf, TurnAsOf } from '../protocol/as-of.js';
import type { Citation } from '../protocol/components.js';
import type { DryRun, Finish, Usage } from '../protocol/engine.js';
import { fail } from '../protocol/errors.js';
import type { Action, HistoryTurn } from '../protocol/history.js';
import type { MemoryChange } from '../protocol/memories.js';
import type { AskToForget } from './ask-to-forget.js';
import type { Component, Knowledge, OwnCitation, TextPiece } from './component.js';
import type { ForgottenTexts } from './forgotten-texts.js';
import { ReplyWriter } from './reply-writer.js';
import type { UsedRecord } from './turn-sources.js';

export type { Component, OwnCitation } from './component.js';

/** The query and the storage behind the knowledge components of one node. Never sent. */
export interface KnowledgeSource {
  readonly query: string;
  readonly storage: Pick<Storage, 'tokenizer' | 'size' | 'documentFrequency'>;
  /** Cosine of the query and records of other subjects; absent without embeddings. */
  readonly cosineFloor?: number | undefined;
  /** The storage's correction of the hits' relevance. */
  readonly calibration?: Calibration | undefined;
}

/** Context of a turn besides text and variables. */
export interface InteractionOptions {
  /** Receives the pieces of the reply. */
  onText?: ((piece: TextPiece) => void) | undefined;
  /** Bounds the appended components, as counted by sizeOf(). */
  limit?: number | undefined;
  /** Waits for memory for a node's results, and counts it until the turn ends. */
  reserve?: ((bytes: Bytes, signal: AbortSignal) => Promise<void>) | undefined;
  /** The agent's earlier turns, oldest first. */
  history?: { readonly turns: readonly HistoryTurn[]; readonly forgotten?: number } | undefined;
  actionResult?: unknown;
  /** Nodes that generate only report their prompt. */
  dryRun?: boolean | undefined;
  /** Versions of storages that the client asked for. */
  asOf?: TurnAsOf | undefined;
  turnId?: string | undefined;
  /** Asks the client whether records may be forgotten; absent: nobody can answer. */
  askToForget?: AskToForget | undefined;
}

/** Maximum number of records that the nodes of one turn may find together: several nodes sort and copy them at once. */
export const maxRecords = 10_000;

/** The data of one turn: the user's message, the variables, and the components that nodes have appended. */
export class Interaction {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly components: Component[];
  /** Keyed by the id of the node that found the knowledge. */
  readonly sources: Map<string, KnowledgeSource> = new Map();
  /** Ids of the nodes whose knowledge the client asked for. */
  readonly emitting: Set<string> = new Set();
  readonly citations: Citation[] = [];
  /** Records that the replies are based on. */
  readonly used: UsedRecord[] = [];
  readonly actionResult: unknown;
  readonly dryRun: boolean;
  /** Prompts of a dry run. */
  readonly dryRuns: DryRun[] = [];
  readonly reserve: NonNullable<InteractionOptions['reserve']>;
  /** Version of each storage that was searched, by its name in the graph. */
  readonly versions: Map<string, number> = new Map();
  /** What nodes have remembered and forgotten. */
  readonly memoryChanges: MemoryChange[] = [];
  /** Id of the turn. */
  readonly turnId: string;
  readonly askToForget: AskToForget | undefined;
  readonly #asOf: TurnAsOf | undefined;
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #history: InteractionOptions['history'];
  readonly #onText: (piece: TextPiece) => void;
  readonly #limit: number;
  #size = 0;
  #records = 0;
  #replyText = '';
  #finish: Finish | undefined;
  #usage: Usage | undefined;
  #action: (Action & { node: string }) | undefined;
  #forgotten: ForgottenTexts[] = [];
  /** Of these, those whose quotations are removed from histories. */
  readonly #unquoted: ForgottenTexts[] = [];
  #isForgetting = false;

  constructor(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    {
      onText = () => {},
      limit = Number.POSITIVE_INFINITY,
      reserve = async () => {},
      history,
      actionResult,
      dryRun = false,
      asOf,
      turnId = '',
      askToForget,
    }: InteractionOptions = {},
  ) {
    this.text = text;
    this.variables = variables;
    this.components = [{ _type: 'human_message', text }];
    this.#history = history;
    this.actionResult = actionResult;
    this.dryRun = dryRun;
    this.#asOf = asOf;
    this.turnId = turnId;
    this.askToForget = askToForget;
    this.reserve = reserve;
    this.#onText = onText;
    this.#limit = limit;
  }

  /** Whether the client asked for earlier versions. */
  get isOfThePast(): boolean {
    return this.#asOf !== undefined;
  }

  /** The version of a storage that the client asked for, by its name in the graph. */
  asOf(storage: string): AsOf | undefined {
    if (typeof this.#asOf !== 'object') return this.#asOf;
    return Object.hasOwn(this.#asOf, storage) ? this.#asOf[storage] : undefined;
  }

  /** Calls back when the turn ends. */
  atEnd(release: () => Promise<void>): void {
    this.#ends.push(release);
  }

  /** The turn has ended. Never rejects. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#ends.splice(0).map((release) => release()));
  }

  /** The agent's earlier turns, oldest first. */
  get history(): readonly HistoryTurn[] {
    return this.#history?.turns ?? [];
  }

  /** Number of turns that the agent forgot because the client's memory budget was full. */
  get forgottenTurns(): number {
    return this.#history?.forgotten ?? 0;
  }

  /** The reply so far. */
  get replyText(): string {
    return this.#replyText;
  }

  /** Why the last generating node stopped. */
  get finish(): Finish | undefined {
    return this.#finish;
  }

  /** Tokens of all generating nodes. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** The last action that a node asked for. */
  get action(): (Action & { node: string }) | undefined {
    return this.#action;
  }

  /** Whether the turn has records forgotten, and waits for it. */
  get isForgetting(): boolean {
    return this.#isForgetting;
  }

  async whileForgetting<T>(work: () => Promise<T>): Promise<T> {
    this.#isForgetting = true;
    try {
      return await work();
    } finally {
      this.#isForgetting = false;
    }
  }

  /** Whether a turn quotes a text that is removed from histories. */
  async isUnquoted(turn: HistoryTurn): Promise<boolean> {
    for (const texts of this.#unquoted) if (await texts.quotedByJsonOf(turn)) return true;
    return false;
  }

  /** Removes records with these texts. Returns whether there were some. `unquote`: a turn that quotes them is not remembered. */
  forget(texts: ForgottenTexts, unquote = false): Promise<boolean> {
    this.#forgotten.push(texts);
    if (unquote) this.#unquoted.push(texts);
    return this.dropForgotten();
  }

  /**
   * Removes records that were forgotten while the turn was running, with their citations; to be called before another node sees what one
   * has appended. Returns whether there were some.
   */
  async dropForgotten(): Promise<boolean> {
    const gone = new Set<Component>();
    const lost = new Set<string>();
    for (const texts of this.#forgotten) {
      for (const component of this.components.filter(isKnowledge) as Knowledge[]) {
        if (await texts.within(component.text)) {
          gone.add(component);
          lost.add(recordKey(component));
        } else if (component.context !== undefined) await dropFrom(component.context, texts);
      }
    }
    if (gone.size === 0) return false;
    const isLost = (record: RecordPlace) => lost.has(recordKey(record));
    keep(this.components, (one) => !gone.has(one) && !(isCitation(one) && isLost(one)));
    keep(this.citations, (citation) => !isLost(citation));
    keep(this.used, (record) => !isLost(record));
    return true;
  }

  /** @throws InteractionTooLarge, then nothing is appended */
  append(components: readonly Component[]): void {
    const records = this.#records + components.filter(isKnowledge).length;
    if (records > maxRecords) {
      const most = `the nodes of one turn may find at most ${maxRecords} records`;
      fail(4014, `${most}; ask for fewer hits, or in fewer nodes`, { limit: maxRecords });
    }
    this.#grow(sizeOf(components));
    this.#records = records;
    for (const component of components) this.components.push(component);
  }

  /** Puts these records in the place of all knowledge so far. @throws as append() */
  replaceKnowledge(knowledge: readonly Component[]): void {
    this.#grow(sizeOf(knowledge) - sizeOf(this.components.filter(isKnowledge)));
    this.#records = knowledge.length;
    const at = this.components.findIndex(isKnowledge);
    const others = this.components.filter((component) => !isKnowledge(component));
    const place = at < 0 ? others.length : at;
    this.components.splice(
      0,
      this.components.length,
      ...others.slice(0, place),
      ...knowledge,
      ...others.slice(place),
    );
  }

  /** Appends a node's whole reply. Replies of several nodes become lines of one text. @throws as append() */
  reply(node: string, text: string, citations: readonly OwnCitation[] = []): void {
    const writer = this.startReply(node);
    writer.write(text);
    writer.end(citations);
  }

  /** Starts a node's reply that is written in pieces. One node's reply ends before another node's starts. */
  startReply(node: string): ReplyWriter {
    const separator = this.#replyText === '' ? '' : '\n';
    return new ReplyWriter(node, separator, this.#replyText.length, {
      tell: (piece) => {
        if (piece.kind === 'reply') this.#replyText += piece.text;
        this.#onText(piece);
      },
      grow: (sent) => this.#grow(typeof sent === 'string' ? sent.length : sizeOf(sent)),
      append: (components, citations, counted) => {
        this.#grow(sizeOf(components) - counted);
        this.components.push(...components);
        this.citations.push(...citations);
      },
    });
  }

  /** Records what a node's reply is based on. Records that exceed the turn's limit lose their metadata and sentence. */
  use(records: readonly UsedRecord[]): void {
    for (const { metadata, sentence, ...rest } of records) {
      const size = sizeOf([metadata, sentence]);
      const fits = this.#size + size <= this.#limit;
      if (fits) this.#size += size;
      this.used.push({ ...rest, ...(fits && { metadata, ...(sentence && { sentence }) }) });
    }
  }

  /** Records how a node's generation ended. */
  generated(node: string, finish: Finish, usage: Usage, action: Action | undefined): void {
    const { prompt, cached, completion } = this.#usage ?? { prompt: 0, cached: 0, completion: 0 };
    this.#finish = finish;
    this.#usage = {
      prompt: prompt + usage.prompt,
      cached: cached + usage.cached,
      completion: completion + usage.completion,
    };
    if (action !== undefined) this.#action = { node, ...action };
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.#size <= this.#limit) return;
    const most = `the hits and replies of one turn may have at most ${this.#limit} bytes`;
    fail(4014, `${most}; ask for fewer hits, or in fewer nodes`, { limit: this.#limit });
  }
}

const isKnowledge = ({ _type }: Component) => _type === 'knowledge';

const isCitation = (component: Component): component is Component & Citation =>
  component._type === 'citation';

type RecordPlace = Pick<Citation, 'storage' | 'id'>;

const recordKey = ({ storage, id }: RecordPlace) => JSON.stringify([storage, id]);

/** Removes the other items of a list. */
function keep<T>(list: T[], wanted: (item: T) => boolean): void {
  list.splice(0, list.length, ...list.filter(wanted));
}

/** Removes records with these texts from those around a hit. */
async function dropFrom(
  { before, after }: NonNullable<Knowledge['context']>,
  texts: ForgottenTexts,
): Promise<void> {
  for (const list of [before, after]) {
    const gone = new Set<object>();
    for (const record of list) if (await texts.within(record.text)) gone.add(record);
    keep(list, (record) => !gone.has(record));
  }
}

/** Approximate bytes of a value and its key, besides their text. */
const valueBytes = 16;

/** Estimates the bytes of a value in memory and as JSON: its texts, plus `valueBytes` for each nested value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return valueBytes + value.length;
  if (typeof value !== 'object' || value === null) return valueBytes;
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), valueBytes);
}
