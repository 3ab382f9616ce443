import type { FilterExpression, StorageChanges, VersionLimits } from '../../../lib/internal.js';
import type { Account } from '../../fairness/account.js';
import type { Forgotten, OnForgotten, QuotingHistory, SearchableStorage } from '../../knowledge/index.js';
import { isUnseenText } from '../../knowledge/model.js';
import { ServerError } from '../../protocol/errors.js';
import type { MemoryScope } from '../../protocol/memories.js';
import type { StoredWireRecord } from '../../protocol/records.js';
import { applyChanges, forgetRecords, getRecords, listRecords } from '../changes.js';
import { wireMetadata } from '../wire.js';
import { halves } from './long-text.js';
import { MemoryDraft, type Remembered } from './memory-draft.js';
import {
  mayBeSame,
  mayShareSubject,
  mergedRecord,
  newRecord,
  type Statement,
  type StatementRecord,
  statementId,
  statementRecord,
} from './statement.js';

/** How statements join what a memory has. */
export interface MemoryRules {
  /** Least cosine of two statements that are one. 1: only statements with the same normal form are. */
  readonly similarity: number;
  /** What becomes of earlier statements about the subject: they stay with the time of their end, or they are removed. */
  readonly conflict: 'keep' | 'replace';
}

/** Resources of one change. */
export interface MemoryWork {
  readonly account: Account;
  readonly versions: VersionLimits;
  readonly signal: AbortSignal;
}

type ReadingWork = Omit<MemoryWork, 'versions'>;

type ForgettingWork = ReadingWork & { readonly histories: boolean };

/** Records among which a paraphrase is looked for. */
const nearest = 8;

/** Earlier statements about one subject that a later one succeeds. */
const mostSucceeded = 100;

/** Other writers may change the storage between the plan and the batch. */
const attempts = 8;

/** Records that are proposed to be forgotten, and their largest cosine distance from the text. */
const mostProposed = 5;
const farthestProposed = 0.6;

/** Changes of one storage from all its memories, one after another. */
const queues = new WeakMap<SearchableStorage, Promise<unknown>>();

/** What an agent remembers, in a storage of the fields `memoryFields`. */
export class Memory {
  readonly storage: SearchableStorage;
  readonly scope: MemoryScope;

  readonly #onForgotten: OnForgotten;

  /** `onForgotten`: told of the texts that are forgotten. */
  constructor(storage: SearchableStorage, scope: MemoryScope, onForgotten: OnForgotten) {
    this.storage = storage;
    this.scope = scope;
    this.#onForgotten = onForgotten;
  }

  /**
   * Adds statements as one version. The same statement again is merged: the record has the later time and text. Statements that are
   * too long for the model become several. @throws as applyChanges()
   */
  remember(
    statements: readonly Statement[],
    rules: MemoryRules,
    work: MemoryWork,
  ): Promise<{ version: number; remembered: Remembered[] }> {
    return this.#inOrder(async () => {
      let left = statements;
      for (let attempt = 1; ; ) {
        const { version } = this.storage;
        const draft = await this.#draft(left, rules, work);
        if (draft.isEmpty) return { version, remembered: [] };
        const changes: StorageChanges = { ...draft.changes, ifVersion: version };
        try {
          const made = await applyChanges(this.storage, changes, work);
          return { version: made.version, remembered: draft.remembered };
        } catch (error) {
          const shorter = withoutLongText(left, error);
          if (shorter !== undefined) left = shorter;
          else if (!isOvertaken(error) || attempt++ === attempts) throw error;
        }
      }
    });
  }

  /** Returns the records that a request to forget may mean, nearest first. */
  async find(text: string, { account, signal }: ReadingWork): Promise<StoredWireRecord[]> {
    const found = await this.#near(
      text,
      { topK: mostProposed, threshold: farthestProposed },
      { account, signal },
    );
    return found.map(({ id, text: stored, metadata }) => ({ id, text: stored, metadata }));
  }

  /** Removes records for good; those that are gone already are left out. Returns the ids of the others. */
  async forget(
    ids: readonly string[],
    { histories, ...work }: ForgettingWork,
  ): Promise<{ version: number; forgotten: string[]; histories: readonly QuotingHistory[] }> {
    let gone: Forgotten | undefined;
    const onForgotten = async (forgotten: Forgotten) => {
      gone = forgotten;
      return [];
    };
    const done = await this.#inOrder(async () => {
      const { records } = await getRecords(this.storage, ids, work.signal);
      const forgotten = records.map(({ id }) => id);
      const { version } =
        forgotten.length === 0
          ? this.storage
          : await forgetRecords(this.storage, forgotten, { ...work, onForgotten, histories });
      return { version, forgotten };
    });
    // Outside of the order: it waits for turns, and these may wait for their changes of the memory.
    return { ...done, histories: gone === undefined ? [] : await this.#onForgotten(gone) };
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const next = (queues.get(this.storage) ?? Promise.resolve()).then(work);
    // Without the result, which may have texts.
    const ended = next.then(
      () => {},
      () => {},
    );
    queues.set(this.storage, ended);
    return next;
  }

  async #draft(statements: readonly Statement[], rules: MemoryRules, work: MemoryWork): Promise<MemoryDraft> {
    const draft = new MemoryDraft();
    const time = this.#now();
    for (const statement of statements) {
      const same = await this.#same(statement, rules, draft, work);
      if (same === 'unseen') continue;
      const record =
        same === undefined ? newRecord(statement, this.scope, time) : mergedRecord(same, statement, time);
      const ended = await this.#succeeded(record, draft, work.signal);
      draft.put(
        record,
        same === undefined ? 'added' : 'merged',
        ended.map(({ id }) => id),
      );
      for (const earlier of ended) {
        if (rules.conflict === 'replace') draft.remove(earlier.id);
        else draft.keep({ ...earlier, metadata: { ...earlier.metadata, until: time } });
      }
    }
    return draft;
  }

  /** Never less than the time of a version: clocks jump. */
  #now(): number {
    return Math.max(Date.now(), this.storage.storage.versions().at(-1)?.time ?? 0);
  }

  /** Returns the record of the same statement; "unseen" for a text in which the model sees nothing. */
  async #same(
    statement: Statement,
    { similarity }: MemoryRules,
    draft: MemoryDraft,
    work: MemoryWork,
  ): Promise<StatementRecord | 'unseen' | undefined> {
    const { subject } = statement;
    const isAbout = ({ id, metadata }: StatementRecord) =>
      !draft.isRemoved(id) && mayShareSubject(metadata.subject, subject);
    // The same text may have been remembered without a subject.
    const ids = [...new Set([statementId(statement), statementId({ ...statement, subject: '' })])];
    const { records } = await getRecords(this.storage, ids, work.signal);
    const stored = new Map(records.map((record) => [record.id, statementRecord(record)]));
    const exact = ids
      .map((each) => draft.get(each) ?? stored.get(each))
      .find((record) => record !== undefined && isAbout(record));
    if (exact !== undefined) return exact;
    if (similarity >= 1) return undefined;
    try {
      const near = await this.#near(statement.text, { topK: nearest, threshold: 1 - similarity }, work);
      return near
        .map((record) => draft.get(record.id) ?? statementRecord(record))
        .find(
          (record) =>
            record.metadata.kind === statement.kind &&
            record.metadata.speaker === statement.speaker &&
            isAbout(record) &&
            mayBeSame(statement.text, record.text),
        );
    } catch (error) {
      if (isUnseenText(error)) return 'unseen';
      // The batch says which text is too long.
      if (isTooLong(error)) return undefined;
      throw error;
    }
  }

  async #near(
    text: string,
    limits: { topK: number; threshold: number },
    { account, signal }: ReadingWork,
  ): Promise<StoredWireRecord[]> {
    const options = { text, mode: 'dense', ...limits, signal } as const;
    const { hits } = await account.compute('search', signal, (next) =>
      this.storage.searchInSlices(options, next),
    );
    return hits.map((hit) => ({
      id: hit.id,
      text: hit.text,
      metadata: hit.metadata && wireMetadata(hit.metadata),
    }));
  }

  /** Returns the earlier statements about the subject of a record that no later one has succeeded. */
  async #succeeded(
    { id, metadata: { subject } }: StatementRecord,
    draft: MemoryDraft,
    signal: AbortSignal,
  ): Promise<StatementRecord[]> {
    if (subject === '') return [];
    const filter: FilterExpression = {
      and: [{ subject: { '==': subject } }, { until: { exists: false } }],
    };
    const { records } = await listRecords(this.storage, { filter, offset: 0, limit: mostSucceeded }, signal);
    return records.map(statementRecord).filter(
      (record) =>
        record.id !== id &&
        // Statements of one turn stand beside each other.
        draft.get(record.id) === undefined &&
        !draft.isRemoved(record.id),
    );
  }
}

const isOvertaken = (error: unknown) =>
  error instanceof ServerError && [8007, 8008, 8010].includes(error.code);

const isTooLong = (error: unknown) =>
  typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 'TEXT_TOO_LONG';

/** Cuts the statement that was too long for the model; undefined if none was. */
function withoutLongText(statements: readonly Statement[], error: unknown): Statement[] | undefined {
  if (!(error instanceof ServerError) || error.code !== 8003) return undefined;
  const { id, tokens, limit } = error.details as { id?: string; tokens?: number; limit?: number };
  if (id === undefined || tokens === undefined || limit === undefined) return undefined;
  const at = statements.findIndex((statement) => statementId(statement) === id);
  const long = statements[at];
  if (long === undefined) return undefined;
  const parts = halves(long.text, Math.ceil((tokens * 1.1) / limit));
  if (parts.length < 2) return undefined;
  return statements.toSpliced(at, 1, ...parts.map((text) => ({ ...long, text })));
}
