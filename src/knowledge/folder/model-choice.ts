import { join } from 'node:path';
import { UnreadableDocument } from '../../documents/document.js';
import { LanguageCount, type LanguageShares } from '../../documents/languages.js';
import type { MultilingualModel } from '../../models/catalog-models.js';
import type { ModelSource } from '../model.js';
import { chunking, defaultModel, type IndexFolderOptions } from './options.js';
import { ReadingThread } from './reading/reading-thread.js';

/** Files that are looked at, evenly spaced, and the characters of each. */
const sampledFiles = 24;
const sampledCharacters = 4000;
/** Larger files are looked at only if there are no others. */
const largestSampled = 1024 * 1024;

/** Share of texts that are not English from which on a folder needs a model that knows other languages. */
const leastForeign = 0.2;

/** The model for a folder, and why. */
export interface ModelChoice {
  model: string;
  /** The model does not know the languages of the folder. */
  unfit?: UnfitModel | undefined;
}

export interface UnfitModel {
  /** Of the texts, most frequent first. */
  languages: readonly string[];
  /** A model that knows them, and the command that downloads it: undefined if it is there, or if nothing says where to find it. */
  better?: { model: string; present: boolean; command: string | undefined } | undefined;
}

/**
 * Chooses the default model, or one that knows many languages if many texts of a sample are not English. @throws system errors for the
 * folder itself; the signal's reason
 */
export async function chooseModel(folder: string, options: IndexFolderOptions): Promise<ModelChoice> {
  const known = multilingualOf(options.models);
  if (known === undefined) return { model: defaultModel };
  const shares = await languagesOf(folder, options);
  const foreign = shares.filter(({ language }) => language !== 'English');
  if (foreign.reduce((sum, { share }) => sum + share, 0) < leastForeign) return { model: defaultModel };
  const multilingual = known();
  if (multilingual?.present) return { model: multilingual.name };
  const languages = foreign.map(({ language }) => language);
  return { model: defaultModel, unfit: unfitModel(languages, options.models) };
}

/** Returns what to do about languages that the model of an index does not know. */
export function unfitModel(languages: readonly string[], models: ModelSource): UnfitModel {
  const known = multilingualOf(models)?.();
  if (known === undefined) return { languages };
  const { name: model, present, command } = known;
  return { languages, better: { model, present, command: present ? undefined : command } };
}

/** Models that a function gives say nothing of their languages. */
function multilingualOf(models: ModelSource): (() => MultilingualModel | undefined) | undefined {
  const { multilingual } = models as { multilingual?: () => MultilingualModel | undefined };
  return typeof multilingual === 'function' ? multilingual.bind(models) : undefined;
}

/** Returns the languages of a sample of the folder's texts. */
async function languagesOf(folder: string, options: IndexFolderOptions): Promise<LanguageShares> {
  const { mapping, signal } = options;
  await using thread = new ReadingThread(signal);
  const files: { path: string; bytes: number }[] = [];
  for await (const found of thread.find(folder, options)) {
    if ('stamp' in found && found.bytes > 0) files.push(found);
  }
  const count = new LanguageCount();
  for (const { path, bytes } of sampleOf(files)) {
    let left = sampledCharacters;
    try {
      const cuts = thread.read({ path: join(folder, path), bytes, mapping, chunking });
      for await (const { body } of cuts) {
        count.add(body.slice(0, left));
        left -= body.length;
        if (left <= 0) break;
      }
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error; // the run itself lists it
      signal?.throwIfAborted();
    }
  }
  return count.shares;
}

function sampleOf<File extends { bytes: number }>(files: readonly File[]): File[] {
  const small = files.filter(({ bytes }) => bytes <= largestSampled);
  const from = small.length > 0 ? small : files;
  const step = Math.max(1, from.length / sampledFiles);
  return Array.from(
    { length: Math.min(from.length, sampledFiles) },
    (_, i) => from[Math.floor(i * step)] as File,
  );
}
