import { samplingOptions } from '../../../../lib/basics.js';
import type { LanguageModelPin } from '../../../models/language-models.js';
import { fail } from '../../../protocol/errors.js';
import type { GenerateParams } from './schema.js';

/** Param of a node for an option of sampling: `top_k` for topK. */
const paramOf = (option: string) => option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The params that need an option of the engine, in the order in which they are blamed. */
const needs: readonly (readonly [param: keyof GenerateParams, option: string])[] = [
  ['grammar', 'grammar'],
  ['memory', 'grammar'],
  ['actions', 'grammar'],
  ...Object.keys(samplingOptions).map((option) => [paramOf(option) as keyof GenerateParams, option] as const),
];

/** Refuses params that a model of another server cannot follow. @throws InvalidParam */
export function refuseLacked(
  params: GenerateParams,
  { name, facts: { lacks = [] } }: Pick<LanguageModelPin, 'name' | 'facts'>,
  where: string,
): void {
  const asked = needs.find(([param, option]) => params[param] !== undefined && lacks.includes(option));
  const param = asked?.[0] ?? (params.cite === 'verbatim' && lacks.includes('quotes') ? 'cite' : undefined);
  if (param === undefined) return;
  const path = `${where}.params.${param}`;
  fail(4003, `${path}: another server computes the model ${JSON.stringify(name)} and cannot do this`, {
    path,
  });
}
