/**
 * What the types of `lorekeep` allow. The compiler checks this file with the tests: a line below @ts-expect-error that
 * compiles is an error, too. Nothing here runs.
 */
import { AbortError, type ErrorCode, LorekeepError, type MetadataValue } from '../../lib/index.js';
import { createStorage, evaluate, openKnowledgeBase, searchStorages } from '../../src/knowledge/index.js';

export function errors(error: unknown) {
  if (!(error instanceof LorekeepError)) return;
  const place: string | undefined = error.detail.field;
  if (error.code === 'TEXT_TOO_LONG') {
    const tokens: number = error.detail.tokens;
    // @ts-expect-error: an error of this code has no such detail
    return [tokens, error.detail.limit, error.detail.candidates];
  }
  if (error.code === 'UNSUPPORTED') return error.detail.candidates?.map(({ reason }) => reason.length);
  // @ts-expect-error: there is no such code
  if (error.code === 'TOO_LONG') return;
  // @ts-expect-error: what a detail is depends on the code
  return [place, error.detail.tokens];
}

interface Chapter {
  year: number;
  tags?: string[];
}

export async function metadata(options: Parameters<typeof openKnowledgeBase>[1]) {
  await using chapters = await openKnowledgeBase<Chapter>('kb.json', options);
  const { hits } = await chapters.search({ text: 'bees' });
  const year: number | undefined = hits[0]?.metadata?.year;
  const tags: string[] | undefined = (await chapters.get('a'))?.metadata?.tags;
  // @ts-expect-error: a chapter has no such field
  const page = hits[0]?.metadata?.page;
  // Any storage can be searched with others, and evaluated.
  await searchStorages({ chapters }, { text: 'bees' });
  await evaluate(chapters, []);
  // @ts-expect-error: no field of a record has such a type
  await openKnowledgeBase<{ at: Date }>('kb.json', options);
  const plain = await createStorage({ strings: ['bees'] });
  const value: MetadataValue | undefined = (await plain.similar('0')).hits[0]?.metadata?.year;
  return [year, tags, page, value];
}

export function aborted(error: unknown) {
  if (error instanceof AbortError) {
    const code: 'CANCELLED' = error.code;
    return code;
  }
  return error instanceof LorekeepError && error.code === 'CANCELLED' ? error.cause : undefined;
}

export function made(code: ErrorCode) {
  // @ts-expect-error: facts that this code demands are missing
  new LorekeepError('TEXT_TOO_LONG', 'the text is too long', { tokens: 7 });
  // @ts-expect-error: this code has no such fact
  new LorekeepError('CLOSED', 'the index is closed', { tokens: 7 });
  return LorekeepError.about(code, { file: 'kb.json', reason: 'the file is not there', tokens: 1, limit: 2 });
}
