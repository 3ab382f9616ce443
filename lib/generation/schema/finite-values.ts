import type { Work } from '../languages/work.js';
import { isOpen, itemAt, namesOf, prefixOf, propertyAt } from './parts.js';
import { type ArrayShape, type Located, type ObjectShape, type Shape, typesOf } from './shape.js';
import type { Shapes } from './shapes.js';
import type { TextLanguages } from './text-languages.js';

/** Units of work of a list of schemas. */
const listUnits = 1;

/** Tells whether schemas that refer to themselves have a value that ends. */
export class FiniteValues {
  readonly #shapes: Shapes;
  readonly #texts: TextLanguages;
  readonly #work: Work;
  readonly #keyOf: (list: readonly Located[]) => string;
  /** Keys of lists that have such a value. */
  readonly #known = new Set<string>();
  /** Keys of lists whose values are looked for: one of them does not end if it holds another. */
  readonly #open = new Set<string>();

  constructor(shapes: Shapes, texts: TextLanguages, work: Work, keyOf: (list: readonly Located[]) => string) {
    this.#shapes = shapes;
    this.#texts = texts;
    this.#work = work;
    this.#keyOf = keyOf;
  }

  /** Whether all of the schemas allow a value in which none holds another of its kind for ever. @throws PieceOver */
  exist(list: readonly Located[]): boolean {
    this.#open.clear();
    return this.#some(list);
  }

  #some(list: readonly Located[]): boolean {
    this.#work.spend(listUnits);
    const key = this.#keyOf(list);
    if (this.#known.has(key)) return true;
    if (this.#open.has(key)) return false;
    this.#open.add(key);
    const found = this.#shapes.of(list).some((shape) => this.#ofShape(shape));
    this.#open.delete(key);
    if (found) this.#known.add(key);
    return found;
  }

  #ofShape(shape: Shape): boolean {
    if (shape.constants !== undefined) return true;
    return [...typesOf(shape)].some((type) => {
      if (type === 'object') return this.#ofObject(shape.object);
      return type !== 'array' || this.#ofArray(shape.array);
    });
  }

  #ofObject(object: ObjectShape): boolean {
    const ends = (name: string) => this.#some(propertyAt(object, name, this.#texts));
    if (![...object.required].every(ends)) return false;
    if (object.least <= object.required.size || isOpen(object)) return true;
    return namesOf(object).filter(ends).length >= object.least;
  }

  #ofArray(array: ArrayShape): boolean {
    const lists = [...Array(Math.min(array.least, prefixOf(array) + 1)).keys()].map((index) =>
      itemAt(array, index),
    );
    for (const { least, schema, at } of array.contains)
      if (least > 0) lists.push([...itemAt(array, 0), { schema, at }]);
    return lists.every((list) => this.#some(list));
  }
}
