import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonWith, LorekeepError, readRegular, replaceFile, unreadable } from '../../../lib/basics.js';
import { readFacts } from './place.js';

/** The digests of texts that were forgotten, in the folder of an index: indexing leaves such texts out. */
export const forgottenIn = (place: string): string => join(place, 'forgotten.json');

const isOurs = isJsonWith(({ kind }) => kind === 'lorekeep forgotten texts');

/** Some four million texts, and the longest text of one string. */
const maxBytes = 500 * 1024 * 1024;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Characters of a passage that is recognised below other titles and headings. */
const shortestPassage = 20;

/** Characters of a word that is normalised: sorting the marks of one letter takes time that grows with their square. */
const longestWord = 4096;

/** Returns a text with one blank between words and in one Unicode form: who wraps its lines or saves it elsewhere writes no other text. */
const plain = (text: string): string =>
  text
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map((word) => (word.length > longestWord ? word : word.normalize('NFC')))
    .join(' ');

/** Returns a text, and the passage below its first line, which has the titles and headings of a document. */
function partsOf(text: string): string[] {
  const end = text.indexOf('\n\n');
  const passage = end < 0 ? '' : text.slice(end + 2);
  return passage.length < shortestPassage ? [text] : [text, passage];
}

const digestsOf = (text: string): string[] => partsOf(text).map((part) => digestOf(plain(part)));

/** Whether a text was forgotten, or its passage was below another title or heading. Lists of earlier versions have texts as they were. */
export const isForgotten = (forgotten: ReadonlySet<string>, text: string): boolean =>
  forgotten.size > 0 &&
  [...digestsOf(text), ...partsOf(text).map(digestOf)].some((digest) => forgotten.has(digest));

/** Reads the digests of an index. @throws IO, CORRUPT, INVALID_ARGUMENT if it is no file or too long: without them, indexing would bring forgotten texts back */
export async function readForgotten(place: string): Promise<ReadonlySet<string>> {
  const file = forgottenIn(place);
  const content = await readRegular(file, maxBytes).catch((error: unknown) => {
    if (error instanceof LorekeepError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(file, error);
  });
  if (content === undefined) return new Set();
  const digests = isOurs(content) ? (JSON.parse(content) as { digests: unknown }).digests : undefined;
  if (!Array.isArray(digests) || digests.some((digest) => typeof digest !== 'string')) {
    const reason =
      'is damaged: it is not known which texts were forgotten; restore it, or let `lorekeep index --forgotten` take all texts again';
    throw LorekeepError.about('CORRUPT', { file, reason });
  }
  return new Set(digests as string[]);
}

/** Adds texts to those of the indexes of folders among `places`, the folders of a knowledge base. @throws as readForgotten() */
export async function addForgotten(places: Iterable<string>, texts: readonly string[]): Promise<void> {
  for (const place of places)
    if ((await readFacts(place)) !== undefined) await addDigests(place, texts.flatMap(digestsOf));
}

/** Adds digests to those of an index. @throws as readForgotten() */
export async function addDigests(place: string, added: Iterable<string>): Promise<void> {
  const present = await readForgotten(place);
  const digests = [...new Set([...present, ...added])];
  if (digests.length === present.size) return;
  const content = { kind: 'lorekeep forgotten texts', version: 1, digests };
  await replaceFile(forgottenIn(place), `${JSON.stringify(content)}\n`, { isOurs });
}

/** Lets indexing take the texts again. */
export const liftForgotten = (place: string): Promise<void> => rm(forgottenIn(place), { force: true });
