import { SpeechRecogniser, type SpeechRecogniserFacts } from '../../lib/internal.js';

export interface LanguageChoice {
  /** A code of Whisper, such as `en`. */
  language?: string | undefined;
  translate?: boolean | undefined;
}

export interface LanguageProblem {
  field: keyof LanguageChoice;
  reason: string;
}

/** Returns what no model can do; with `facts`, also what this one cannot. Undefined: nothing. */
export function languageProblem(
  { language, translate }: LanguageChoice,
  facts?: SpeechRecogniserFacts,
): LanguageProblem | undefined {
  if (language !== undefined && !SpeechRecogniser.languages().includes(language)) {
    const reason = `${JSON.stringify(language)} is no language of Whisper; codes are such as en, de, ja`;
    return { field: 'language', reason };
  }
  if (facts === undefined || facts.multilingual) return undefined;
  const reason = `the model ${facts.name} knows English alone`;
  if (language !== undefined && language !== 'en') return { field: 'language', reason };
  return translate ? { field: 'translate', reason } : undefined;
}
