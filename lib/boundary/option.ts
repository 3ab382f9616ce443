/**
 * Definitions of options: plain data that the checks of the library, schemas, flags, docs and the numbers that cross to C++
 * are made from. Needs no addon, so clients may import it.
 */

/** Everything that several doors need to know about an option. */
export interface Option {
  readonly kind:
    | 'integer'
    | 'number'
    | 'choice'
    | 'boolean'
    | 'text'
    | 'object'
    | 'words'
    | 'groups'
    | 'factors';
  /** For schemas, docs and flags, with the names of frames. */
  readonly text: string;
  /** Range of a number, or of each factor. */
  readonly min?: number;
  readonly max?: number;
  /** Whether `min` itself is refused. */
  readonly above?: true;
  readonly choices?: readonly string[];
  /** Maximum number of words, in all groups together, or of factors. */
  readonly most?: number;
  /** Maximum number of characters of a word in frames and configs. */
  readonly longest?: number;
  /** The options inside an object. */
  readonly fields?: Options;
  /** The default of frames and configs. */
  readonly usual?: number | string;
  /** The default of storages that the library makes, and of the configs that commands write, where it differs. */
  readonly best?: number | string;
  /** The default in words, where it depends on other things. */
  readonly otherwise?: string;
  /** Modes of a search that use it; the others refuse it. Default: all. */
  readonly modes?: readonly string[];
  /** Whether a knowledge base may state a default of its own. */
  readonly config?: true;
  /** Its name in frames and configs. Default: that of the library in snake_case. */
  readonly field?: string;
  /** Not in frames. */
  readonly internal?: true;
  /** The value in the usage of its flag, such as `<n>`. */
  readonly flag?: string;
  /** The member of the C++ struct that it becomes; true: its name in snake_case. */
  readonly native?: true | string;
  /** The value of `true` in the library, and of the flag without a value. */
  readonly alone?: number;
  /** Name of an object's type in the library. */
  readonly type?: string;
}

export type Options = Readonly<Record<string, Option>>;

type Range = readonly [min: number, max: number];
type More = Omit<Option, 'kind' | 'text' | 'min' | 'max' | 'choices'>;

export const integer = <const Facts extends More>([min, max]: Range, text: string, more: Facts) =>
  ({ kind: 'integer', min, max, text, ...more }) as const;

export const number = <const Facts extends More>([min, max]: Range, text: string, more: Facts) =>
  ({ kind: 'number', min, max, text, ...more }) as const;

export const choice = <const Choices extends readonly string[], const Facts extends More>(
  choices: Choices,
  text: string,
  more: Facts,
) => ({ kind: 'choice', choices, text, ...more }) as const;

export const object = <const Fields extends Options, const Facts extends More>(
  fields: Fields,
  text: string,
  more: Facts,
) => ({ kind: 'object', fields, text, ...more }) as const;

/** `topK` as `top_k`. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
