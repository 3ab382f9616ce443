import { existsSync } from 'node:fs';
import { type FilterExpression, LorekeepError } from '../../../lib/internal.js';
import { commandName, shellText, shellWord } from '../../base/schema/shell-word.js';
import { indexOf } from '../../knowledge/folder/place.js';
import { type KnowledgeBase, openKnowledgeBase } from '../../knowledge/index.js';
import { wireHit, wireRerank } from '../../storages/wire.js';
import { CommandError, UsageError } from '../failure.js';
import { lexicalFlag, lexicalRequest } from '../flags/lexical.js';
import type { ModelFlags } from '../flags/model.js';
import { flagOf } from '../flags/options.js';
import { type RetrievalFlags, requireEffect, rerankRequest, searchFields } from '../flags/retrieval.js';
import { interruptible } from '../interrupt.js';
import { findKnowledgeBase } from '../knowledge-base-place.js';
import { CommandModels } from '../models.js';
import { note, print, printJson, warnWithCause } from '../output.js';
import { wrappedFact } from '../terminal/lines.js';
import { printable } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { Screen } from '../terminal/screen.js';
import { printHits } from './hits.js';
import { jsonArgument, jsonObjectArgument } from './json-argument.js';
import { planLines, planNotes } from './plan.js';

export interface SearchFlags extends RetrievalFlags, ModelFlags {
  highlight?: boolean;
  explain?: boolean;
  json?: boolean;
}

/** Columns of the names of facts, as planLines() pads them. */
const nameColumns = 10;

/** Opening prints progress after this many milliseconds. */
const quietMs = 1000;

const buildAdvice =
  'the records were embedded for this search alone; name an "index_file" in the config, and lorekeep build keeps them';

const isEmbeddedAnew = ({ engine, index_file, embeddings_file }: KnowledgeBase['config']) =>
  engine === undefined && index_file === undefined && embeddings_file === undefined;

/** `lorekeep search`: opens a knowledge base, searches once, prints. */
export async function search(given: readonly string[], flags: SearchFlags): Promise<void> {
  const [name, text] = searchArguments(given);
  if (text.trim() === '') throw new UsageError('the text to look for is empty');
  requireEffect(flags);
  if (flags.highlight && !flags.json)
    throw new UsageError(
      '--highlight: it has no effect without --json; a terminal shows matched words anyway',
    );
  const lexical = await lexicalRequest(flags);
  const filter = await jsonArgument('--filter', flags.filter);
  const variables = await jsonObjectArgument('--variables', flags.variables);
  if (name !== undefined) await refuseWordAsPlace(name, text);
  const file = await findKnowledgeBase(name);
  await interruptible(async (signal) => {
    const started = performance.now();
    await using models = await CommandModels.open(flags);
    const log = {
      info: flags.explain ? logNote : () => {},
      warn: warnWithCause,
    };
    const view = progressView(process.stderr, { quietMs, json: flags.json });
    const onProgress = view.update.bind(view);
    const wanted = rerankRequest(flags);
    const rerank = wanted && { model: models.reranker(wanted.model) };
    const opening = openKnowledgeBase(file, {
      models,
      connections: models.connections,
      signal,
      log,
      onProgress,
    });
    await using kb = await opening.finally(() => view.stop());
    const opened = performance.now();
    if (opened - started > quietMs && isEmbeddedAnew(kb.config)) note(`lorekeep: ${buildAdvice}`);
    const query = {
      ...searchFields(flags),
      text,
      lexical,
      highlight: flags.highlight === true || flags.json !== true,
      filter: filter as FilterExpression | undefined,
      variables,
      rerank,
    };
    const {
      hits: found,
      plan: searched,
      rerank: facts,
    } = await kb.search({ ...query, signal }).catch((error) => {
      throw searchFailure(error, flags);
    });
    const times = {
      model_ms: rounded(models.loadMs),
      open_ms: rounded(opened - started - models.loadMs),
      search_ms: rounded(performance.now() - opened),
    };
    const plan = facts === undefined ? searched : { ...searched, rerank: wireRerank(rerank, facts) };
    const hits = found.map(wireHit);
    if (flags.json) return printJson({ records: kb.size, hits, plan, times });
    printHits(hits, { ...flags, mode: plan.mode });
    for (const each of planNotes(plan, hits.length, flags, kb.config.bm25_tokenizer))
      note(`lorekeep: ${each}`);
    if (!flags.explain) return;
    print('');
    const { limit } = new Screen(process.stdout);
    const lines = [
      ...planLines(plan, filter !== undefined),
      `records   ${kb.size}, tokenizer ${kb.config.bm25_tokenizer}`,
      `time      model ${times.model_ms} ms, open ${times.open_ms} ms, search ${times.search_ms} ms`,
    ];
    for (const fact of lines) for (const line of wrappedFact(fact, limit, nameColumns)) print(line);
  });
}

/** Two words without quotes look like a knowledge base and a text. @throws CommandError */
async function refuseWordAsPlace(name: string, text: string): Promise<void> {
  if (existsSync(name) || name === '' || /[\\/]|\.json$/i.test(name)) return;
  if ((await indexOf(name)) !== undefined) return;
  const message = `${name}: the file does not exist; if it is a word of the text, put quotes around the text: ${commandName()} search ${shellText(`${name} ${text}`)}`;
  throw new CommandError('NOT_FOUND', message);
}

/** Splits the arguments into knowledge base and text. @throws UsageError */
function searchArguments(given: readonly string[]): [string | undefined, string] {
  const [first, second] = given as [string, string | undefined];
  if (second === undefined) {
    if (!/\.json$/i.test(first)) return [undefined, first];
    throw new UsageError(
      `the text to look for is missing: ${commandName()} search ${shellWord(first)} "..."`,
    );
  }
  if (given.length === 2) return [first, second];
  const isPlace = existsSync(first);
  const text = given.slice(isPlace ? 1 : 0).join(' ');
  throw new UsageError(
    `put quotes around the text: ${commandName()} search ${isPlace ? `${shellWord(first)} ` : ''}${shellText(text)}`,
  );
}

function logNote(facts: object, message: string): void {
  const { reason } = facts as { reason?: unknown };
  note(printable(`lorekeep: ${message}${typeof reason === 'string' ? `: ${reason}` : ''}`));
}

/** Flags of parts of `lexical`. */
const lexicalFlags: Readonly<Record<string, string>> = {
  'lexical.boosts': '--boost',
  'lexical.stopwords': '--stop-words',
  'lexical.synonyms': '--synonyms',
};

/** Returns usage errors for defects of the query, the filter and its variables. */
function searchFailure(error: unknown, flags: RetrievalFlags): unknown {
  if (!(error instanceof LorekeepError)) return error;
  const { code, detail } = error;
  const { field, reason } = detail;
  const [name = '', part] = String(field ?? '').split('.');
  if (name === 'lexical') {
    const flag = lexicalFlags[`${name}.${part}`] ?? (part === undefined ? lexicalFlag(flags) : undefined);
    return new UsageError(`${flag ?? '--lexical'}: ${reason}`);
  }
  if (Object.hasOwn({ ...searchFields(flags), filter: true, variables: true }, name))
    return new UsageError(`${flagOf(name)}: ${reason}`);
  if (code !== 'TEXT_TOO_LONG') return error;
  return new CommandError(code, `the query is too long: ${reason}`, { cause: error });
}

const rounded = (ms: number) => Math.round(ms * 10) / 10;
