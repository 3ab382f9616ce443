import type { ModelFlags } from '../flags/model.js';

/** Kinds of JSON files, which `--as` takes. */
export const checkedKinds = ['knowledge-base', 'server-config', 'catalog', 'records'] as const;

export type JsonKind = (typeof checkedKinds)[number];

export interface CheckFlags extends ModelFlags {
  as?: JsonKind;
  /** Names in the catalog. */
  model?: string[];
  recall?: boolean;
  /** Config of a knowledge base in files to compare with. */
  against?: string;
  /** False: whole files are not read to compare checksums. */
  verify: boolean;
  all?: boolean;
  json?: boolean;
}
