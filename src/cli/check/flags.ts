import type { ModelFlags } from '../flags/model.js';

export const checkedKinds = ['knowledge-base', 'server-config', 'catalog', 'records'] as const;

export type CheckedKind = (typeof checkedKinds)[number];

export interface CheckFlags extends ModelFlags {
  as?: CheckedKind;
  json?: boolean;
}
