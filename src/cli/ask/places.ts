import { stat } from 'node:fs/promises';
import { commandName, shellText, shellWord } from '../../base/schema/shell-word.js';
import { CommandError, UsageError } from '../failure.js';
import { printableLine } from '../terminal/printable.js';

/** A folder of documents, or the config of a knowledge base, on this machine. */
export interface PlaceHere {
  readonly path: string;
  readonly kind: 'folder' | 'config';
}

/** Where the answers come from. `there`: a knowledge base as a server names it. */
export type Places =
  | { readonly here: readonly PlaceHere[]; readonly question: string | undefined }
  | { readonly there: string; readonly question: string | undefined };

/**
 * Divides the words of `ask` into places and the question. The first words are places as long as they exist here; a first word
 * that does not exist here, or `atServer`, means a knowledge base of a server.
 * @throws UsageError if the shell has split the question; CommandError for a folder that does not exist
 */
export async function dividePlaces(
  words: readonly string[],
  atServer: boolean,
  command: 'ask' | 'chat' | 'listen',
): Promise<Places> {
  const [first = '', ...rest] = words;
  if (first === '')
    throw new UsageError(
      'the name of the knowledge base is empty; a folder, or a path such as kb.json, is expected',
    );
  const here: PlaceHere[] = [];
  for (const word of atServer ? [] : words) {
    const kind = await kindOf(word);
    if (kind === undefined) break;
    here.push({ path: word, kind });
  }
  if (here.length === 0) {
    if (!atServer) {
      if (/^\.{0,2}[\\/]/.test(first) && !/\.json$/i.test(first)) throw await noPlace(first);
      await refuseQuestionFirst(first, rest, command);
    }
    return { there: first, question: oneQuestion(rest, [command, first]) };
  }
  const left = words.slice(here.length);
  const [next] = left;
  if (next !== undefined && (await meansPlace(next, left.length))) throw await noPlace(next);
  return { here, question: oneQuestion(left, [command, ...words.slice(0, here.length)]) };
}

/** The places of a command that takes nothing else. @throws CommandError for a place that does not exist here */
export async function placesHere(words: readonly string[]): Promise<PlaceHere[]> {
  const places: PlaceHere[] = [];
  for (const path of words) {
    const kind = await kindOf(path);
    if (kind === undefined) throw await noPlace(path);
    places.push({ path, kind });
  }
  return places;
}

/** What a path is that is no place: absent, or something else. */
async function noPlace(path: string): Promise<CommandError> {
  const reason = (await exists(path))
    ? 'is neither a folder nor a knowledge base (a .json file)'
    : 'there is no such folder or knowledge base (a .json file)';
  return new CommandError('NOT_FOUND', `${printableLine(path)}: ${reason}`);
}

/** Whether the word after the places is one that is no place, rather than the question. `left`: number of words from it on. */
async function meansPlace(word: string, left: number): Promise<boolean> {
  if (/^\.{1,2}[\\/]/.test(word)) return true;
  return (left > 1 || /[\\/]/.test(word)) && (await exists(word));
}

/** Whether a word that does not exist here may be the path of a knowledge base on a server. */
const mayBePath = (word: string) => !/\s/.test(word) && (/[\\/]/.test(word) || /\.json$/i.test(word));

/** @throws UsageError if the question stands before the places */
async function refuseQuestionFirst(
  first: string,
  rest: readonly string[],
  command: 'ask' | 'chat' | 'listen',
): Promise<void> {
  if (rest.length === 0 || mayBePath(first)) return;
  for (const word of rest) if ((await kindOf(word)) === undefined) return;
  const right = [commandName(), command, ...rest.map(shellWord), shellText(first)];
  throw new UsageError(`the question comes after the places: ${right.join(' ')}`);
}

const exists = (path: string): Promise<boolean> =>
  path === '' || path.includes('\0')
    ? Promise.resolve(false)
    : stat(path).then(
        () => true,
        () => false,
      );

async function kindOf(word: string): Promise<PlaceHere['kind'] | undefined> {
  if (word === '' || word.includes('\0')) return undefined;
  const found = await stat(word).catch(() => undefined);
  if (found?.isDirectory()) return 'folder';
  return found?.isFile() && /\.json$/i.test(word) ? 'config' : undefined;
}

function oneQuestion(words: readonly string[], before: readonly string[]): string | undefined {
  if (words.length < 2) return words[0];
  const command = [commandName(), ...before.map(shellWord), shellText(words.join(' '))];
  throw new UsageError(`put quotes around the text: ${command.join(' ')}`);
}

/** The places, for people. */
export const namesOf = (places: Places): string =>
  'here' in places ? places.here.map(({ path }) => path).join(', ') : places.there;
