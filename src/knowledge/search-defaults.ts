import type { FieldDefinition, FusionMethod, LexicalOptions } from '../../lib/internal.js';
import type { Calibrations } from './calibrate.js';

/** Defaults of the options of the same name. */
export interface SearchDefaults {
  /** The metadata fields, as save() writes them. */
  fields?: readonly FieldDefinition[] | undefined;
  lexical?: LexicalOptions | undefined;
  fusion?: FusionMethod | undefined;
  relevance?: Calibrations | undefined;
}
