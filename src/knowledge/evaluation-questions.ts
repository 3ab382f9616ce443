import { z } from 'zod';
import { LorekeepError } from '../../lib/internal.js';
import { readText } from '../base/files/read-text.js';
import { fieldIssue } from '../base/schema/field-issue.js';
import { checkJsonShape } from '../base/schema/json-shape.js';
import { plainMessage } from '../base/schema/messages.js';

/** A question with the records that answer it. */
export interface EvaluationQuestion {
  question: string;
  /** Gain above 0 of each relevant record, by id. */
  relevant: ReadonlyMap<string, number>;
  /** Made from a record, not asked by anybody. */
  draft: boolean;
  /** File and line, for messages about the question. */
  place?: string | undefined;
}

const gains = z.record(z.string().min(1), z.number().positive());
/** Maximum number of characters of a question, as of a query that the server takes. */
const longestQuestion = 32_768;
const lineSchema = z.strictObject({
  question: z
    .string()
    .regex(/\S/, 'a text that is not blank is expected')
    .max(longestQuestion, `a text of at most ${longestQuestion} characters is expected`),
  relevant: z.union(
    [z.array(z.string().min(1)).min(1), gains.refine((value) => Object.keys(value).length > 0)],
    'a list of ids or an object of gains above 0 is expected',
  ),
  draft: z.boolean().default(false),
});

const expected =
  'expected {"question": "...", "relevant": ["id", ...]}, or gains above 0 by id: "relevant": {"id": 2, ...}';

/** Longest file of questions, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads questions from JSON lines of a regular file. Blank lines are skipped. Each question occurs once: two lists of
 * relevant records for one question would contradict each other.
 * @throws NOT_FOUND, IO, CORRUPT (not UTF-8, longer than 64 MiB); INVALID_ARGUMENT naming the line
 */
export async function readQuestions(path: string): Promise<EvaluationQuestion[]> {
  const text = await readText(path, maxBytes, 'list of questions');
  const questions: EvaluationQuestion[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of withoutByteOrderMark(text).split('\n').entries()) {
    if (line.trim() === '') continue;
    const place = `${path}:${index + 1}`;
    const question = parseQuestion(line, place);
    const asked = question.question.trim();
    const earlier = lineOf.get(asked);
    if (earlier !== undefined) {
      const reason = `the question of line ${earlier} again; name all relevant records in one line`;
      throw LorekeepError.about('INVALID_ARGUMENT', { file: place, reason });
    }
    lineOf.set(asked, index + 1);
    questions.push(question);
  }
  if (questions.length === 0) {
    throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason: `no questions; ${expected}` });
  }
  return questions;
}

/** Some editors begin a file with one. */
const withoutByteOrderMark = (text: string) => (text.startsWith('\uFEFF') ? text.slice(1) : text);

function parseQuestion(line: string, place: string): EvaluationQuestion {
  const refuse = (what: string): never => {
    throw LorekeepError.about('INVALID_ARGUMENT', { file: place, reason: `${what}; ${expected}` });
  };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse('not a JSON object');
  }
  const problem = checkJsonShape(line);
  if (problem !== undefined) return refuse(problem.what);
  const { success, data, error } = lineSchema.safeParse(value, { error: plainMessage });
  if (!success) return refuse(mistakeOf(value, error));
  const { question, relevant, draft } = data;
  const pairs = Array.isArray(relevant)
    ? relevant.map((id): [string, number] => [id, 1])
    : Object.entries(relevant);
  const gainOf = new Map<string, number>();
  for (const [id, gain] of pairs) {
    if (gainOf.has(id)) return refuse(`relevant: ${JSON.stringify(id.slice(0, 128))} is named twice`);
    gainOf.set(id, gain);
  }
  return { question, relevant: gainOf, draft, place };
}

/** An unknown key comes first: it may be the misspelt name of a missing one. */
function mistakeOf(value: unknown, error: z.core.$ZodError): string {
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0];
  const { path, message } = fieldIssue(lineSchema, value, { ...error, issues: [issue] } as z.core.$ZodError);
  return `${path || 'the line'}: ${message}`;
}

export interface DraftSource {
  id: string;
  text: string;
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Fields with questions that people may have asked. */
const questionField = 'question';
const titleFields = ['title', 'heading', 'name'];
const longestDraft = 300;

/** A sentence with fewer words is a heading, or says little. */
const fewestWords = 5;

/**
 * Drafts at most `count` questions, each from the first usable record of one of as many equal parts: the record's metadata
 * field `question`, else a sentence of its text with some words, else its title (a field named title, heading or name) if no
 * other record has it, else its first sentence. Records with none of these, or with the question of an earlier draft, are skipped.
 */
export function draftQuestions(records: readonly DraftSource[], count: number): EvaluationQuestion[] {
  const drafts = new Map<string, EvaluationQuestion>();
  if (count < 1) return [];
  const titles = titleCounts(records);
  const step = Math.max(1, records.length / count);
  for (let begin = 0; begin < records.length; begin += step) {
    for (const record of records.slice(Math.floor(begin), Math.floor(begin + step))) {
      const question = questionOf(record, titles);
      if (question === undefined || drafts.has(question)) continue;
      drafts.set(question, { question, relevant: new Map([[record.id, 1]]), draft: true });
      break;
    }
  }
  return [...drafts.values()];
}

function questionOf(record: DraftSource, titles: ReadonlyMap<string, number>): string | undefined {
  const sentences = sentencesOf(record.text);
  return (
    fieldOf(record, [questionField]) ?? tellingSentence(sentences) ?? ownTitle(record, titles) ?? sentences[0]
  );
}

/** Number of records by title: a title of several records, such as that of a document, asks for none of them. */
function titleCounts(records: readonly DraftSource[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const record of records) {
    for (const field of titleFields) {
      const title = fieldOf(record, [field]);
      if (title !== undefined) counts.set(title, (counts.get(title) ?? 0) + 1);
    }
  }
  return counts;
}

function ownTitle(record: DraftSource, counts: ReadonlyMap<string, number>): string | undefined {
  return titleFields
    .map((field) => fieldOf(record, [field]))
    .find((title) => title !== undefined && counts.get(title) === 1);
}

function fieldOf({ metadata }: DraftSource, fields: readonly string[]): string | undefined {
  return fields
    .map((field) => metadata?.[field])
    .find(
      (value): value is string =>
        typeof value === 'string' && value.trim() !== '' && value.length <= longestQuestion,
    )
    ?.trim();
}

/** The end of a sentence; headings have none. */
const sentenceEnd = /[.!?…。！？؟।]["'”’»)\]]*$/u;

/** Returns the sentences of a text that may be drafts; none of a text of one sentence: nothing would be left to be found. */
function sentencesOf(text: string): string[] {
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence !== '');
  return sentences.length < 2 ? [] : sentences.filter(({ length }) => length <= longestDraft);
}

/** The first sentence that says something. */
const tellingSentence = (sentences: readonly string[]) =>
  sentences.find((sentence) => sentenceEnd.test(sentence) && wordCount(sentence) >= fewestWords);

function wordCount(sentence: string): number {
  let words = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(sentence))
    if (isWordLike) words++;
  return words;
}

/** A question as its line in the file. */
export function questionLine({ question, relevant, draft }: EvaluationQuestion): string {
  const plain = [...relevant.values()].every((gain) => gain === 1);
  const answers = plain ? [...relevant.keys()] : Object.fromEntries(relevant);
  return JSON.stringify({ question, relevant: answers, ...(draft && { draft }) });
}
