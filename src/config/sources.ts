import { valueAt } from '../base/schema/field-issue.js';
import { configFields } from './fields.js';
import type { Override } from './flags.js';

/** Returns, for each field that is not at its default, its source: "file", or the name of a flag or variable. */
export function configSources(written: object, overrides: readonly Override[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const { keys, path } of configFields)
    if (valueAt(written, keys) !== undefined) sources.set(path, 'file');
  for (const { field, source } of overrides) sources.set(field.path, source);
  return sources;
}
