import type { SpeechRecogniser, SpeechRecogniserFacts, VoiceDetector } from '../../../lib/internal.js';
import type { VoiceSettings } from '../../base/schema/voice-settings.js';
import type { CatalogSpeechModel } from '../../models/speech-models.js';
import { fail } from '../../protocol/errors.js';
import type { Requests } from '../../protocol/frames.js';
import { type LanguageChoice, languageProblem } from '../../speech/language-problem.js';
import { unknownModel } from '../../storages/wire-errors.js';
import type { Services } from '../services.js';

/** The models of a stream. */
export interface ChosenModels {
  readonly detector: CatalogSpeechModel<VoiceDetector>;
  readonly recogniser: CatalogSpeechModel<SpeechRecogniser>;
  /** The settings of the request, then those of the detector's catalog entry. */
  readonly voice: VoiceSettings;
}

type OpenRequest = Requests['OpenSpeechRequest'];

/** @throws InvalidField for a name that the catalog does not have, and for a language that the model does not know */
export async function chooseModels(
  { speech, config }: Pick<Services, 'speech' | 'config'>,
  { model, vad_model, vad, language, translate }: OpenRequest,
  signal: AbortSignal,
): Promise<ChosenModels> {
  const detector = named('vad_model', () =>
    speech.detector(vad_model ?? (config.default_vad_model || undefined)),
  );
  const recogniser = named('model', () => speech.recogniser(model));
  refuseLanguage({ language, translate });
  // Loaded now, so that the first words do not wait.
  using lease = await recogniser.lease(signal);
  refuseLanguage({ language, translate }, lease.model.facts);
  return { detector, recogniser, voice: { ...detector.entry.vad, ...vad } };
}

function refuseLanguage(choice: LanguageChoice, facts?: SpeechRecogniserFacts): void {
  const problem = languageProblem(choice, facts);
  if (problem !== undefined) fail(1004, `${problem.field}: ${problem.reason}`, { path: problem.field });
}

function named<Model>(path: string, find: () => Model): Model {
  try {
    return find();
  } catch (error) {
    throw unknownModel(error, path, 1004);
  }
}
