import {
  promptProblem,
  type SpeechRecogniser,
  type SpeechRecogniserFacts,
  type VoiceDetector,
} from '../../../lib/internal.js';
import type { ServerConfig } from '../../config/schema.js';
import { ModelLoadError } from '../../models/model-load-error.js';
import { Residency } from '../../models/residency.js';
import { SpeechModels } from '../../models/speech-models.js';
import { findModel, UnknownModelError } from '../../models/unknown-model.js';
import { type VoiceChoice, voiceOptions } from '../../models/voice-settings.js';
import { type LanguageChoice, languageProblem } from '../../speech/language-problem.js';
import { modelOfFlag } from '../ask/model-file.js';
import { openCatalogAndConfig } from '../catalog/open-catalog.js';
import { CommandError, UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';

/** The flags that say which models hear, and how. */
export interface SpeechFlags extends ModelFlags {
  model?: string;
  vadModel?: string;
  language?: string;
  translate?: boolean;
  prompt?: string;
  beams?: number;
  threads: number;
}

export interface LoadedSpeechModels {
  /** The settings of the detector's catalog entry. */
  readonly voice: VoiceChoice;
  readonly detector: VoiceDetector;
  readonly recogniser: SpeechRecogniser;
}

/** Runs work with the models of the flags. @throws UsageError, ModelLoadError, the signal's reason; as the work */
export async function withSpeechModels<Result>(
  flags: SpeechFlags,
  signal: AbortSignal,
  work: (models: LoadedSpeechModels) => Promise<Result>,
): Promise<Result> {
  refuseLanguage(flags);
  const problem = promptProblem(flags.prompt ?? '');
  if (problem !== undefined) throw new UsageError(`--prompt: ${problem}`);
  const { catalog, config } = await openCatalogAndConfig(flags);
  const { name, entry } = await modelOfFlag(flags.model, catalog, 'stt');
  const residency = new Residency(catalog, { log: { info() {}, error() {} } });
  const models = new SpeechModels(residency, { threads: flags.threads, idleMs: 0 });
  try {
    const chosen = found('--model', () => models.recogniser(name, entry), fileOrDownload);
    using recogniser = await chosen.lease(signal).catch((error: unknown) => {
      // A file of the flag is none of the catalog's.
      if (entry === undefined || !(error instanceof ModelLoadError)) throw error;
      throw new CommandError(error.code, `--model: ${error.detail.reason}`);
    });
    refuseLanguage(flags, recogniser.model.facts);
    const vad = found('--vad-model', () => models.detector(vadModel(flags, config)));
    const voice = voiceOptions(vad.entry.vad ?? {});
    using detector = await vad.lease(signal);
    return await work({ detector: detector.model, voice, recogniser: recogniser.model });
  } finally {
    await residency.close();
  }
}

/** For models of the catalog alone, before anything else is done. @throws UsageError for one that it does not have */
export async function checkSpeechModels(flags: Omit<SpeechFlags, 'threads'>): Promise<void> {
  refuseLanguage(flags);
  const { catalog, config } = await openCatalogAndConfig(flags);
  found('--model', () => findModel(catalog, 'stt', flags.model));
  found('--vad-model', () => findModel(catalog, 'vad', vadModel(flags, config)));
}

const vadModel = (
  flags: Pick<SpeechFlags, 'vadModel'>,
  config: Pick<ServerConfig, 'default_vad_model'> | undefined,
) => flags.vadModel ?? (config?.default_vad_model || undefined);

/** @throws UsageError for what the models cannot do, before the first word is heard */
function refuseLanguage(flags: LanguageChoice, facts?: SpeechRecogniserFacts): void {
  const problem = languageProblem(flags, facts);
  if (problem !== undefined) throw new UsageError(`--${problem.field}: ${problem.reason}`);
}

const download = 'download a model (docs/guides/speech.md)';
const fileOrDownload = `name a ggml-*.bin file, or ${download}`;

/** Finds a model. @throws UsageError that names the flag */
function found<Model>(flag: string, find: () => Model, remedy = download): Model {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof UnknownModelError)) throw error;
    throw new UsageError(`${flag}: ${error.message}; ${remedy}`);
  }
}
