/**
 * What the types of `lorekeep/client` allow. The compiler checks this file with the tests: a line below @ts-expect-error
 * that compiles is an error, too. Nothing here runs.
 */
import type * as wire from '../../src/agents/wire/frames.js';
import {
  type ClientSession,
  type ConnectionLostError,
  type FilterExpression,
  type Graph,
  type Hit,
  ServerError,
  type ServerFrames,
} from '../../src/client/index.js';
import type { CamelCased } from '../../src/client/names.js';

/** Compiles only if the two types are assignable to each other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const holds = <_Holds extends true>() => {};

/** Frames whose types are narrower than their schemas are compared without their errors. */
type Plain<Frame> = Omit<Frame, 'error' | 'details'>;
type Inferred = { [Type in keyof wire.ServerFrames]: CamelCased<wire.ServerFrames[Type]> };

export function frames() {
  holds<Same<keyof ServerFrames, keyof Inferred>>();
  holds<
    Same<{ [T in keyof Inferred]: Plain<ServerFrames[T]> }, { [T in keyof Inferred]: Plain<Inferred[T]> }>
  >();
}

export function graphs() {
  const right: Graph = {
    nodes: [
      { id: 'a', type: 'retrieve', params: { embeddedStringStorage: 'docs', topK: 3, emit: true } },
      { id: 'b', type: 'retrieve', params: { embedded_string_storage: 'docs', top_k: 3 } },
      { id: 'c', type: 'quote' },
      { id: 'd', type: 'generate', params: { cite: 'marks', history: { turns: 0 } } },
    ],
    edges: [['a', 'b']],
  };
  const wrong: Graph[] = [
    // @ts-expect-error: no such type
    { nodes: [{ id: 'a', type: 'retreive', params: { embeddedStringStorage: 'docs' } }] },
    // @ts-expect-error: no such param
    { nodes: [{ id: 'a', type: 'retrieve', params: { embeddedStringStorage: 'docs', nonsense: 1 } }] },
    // @ts-expect-error: a param of another type
    { nodes: [{ id: 'a', type: 'quote', params: { embeddedStringStorage: 'docs' } }] },
    // @ts-expect-error: the storage is missing
    { nodes: [{ id: 'a', type: 'retrieve', params: { topK: 3 } }] },
    // @ts-expect-error: a retrieve node needs params
    { nodes: [{ id: 'a', type: 'retrieve' }] },
    // @ts-expect-error: an edge has two ends
    { nodes: [{ id: 'a', type: 'quote' }], edges: [['a']] },
  ];
  return [right, wrong];
}

export async function requests(session: ClientSession) {
  await session.createEmbeddedStringStorage({ name: 'a', configPath: 'kb.json' });
  await session.createEmbeddedStringStorage({ name: 'a', strings: ['b'], embeddingModel: 'mini' });
  // @ts-expect-error: neither a file nor strings
  await session.createEmbeddedStringStorage({ name: 'a' });
  // @ts-expect-error: strings need a model
  await session.createEmbeddedStringStorage({ name: 'a', strings: ['b'] });
  // @ts-expect-error: a file and strings
  await session.createEmbeddedStringStorage({
    name: 'a',
    configPath: 'b',
    strings: ['b'],
    embeddingModel: 'c',
  });
  // @ts-expect-error: no such mode
  await session.search({ name: 'a', text: 'b', mode: 'fuzzy' });
  // @ts-expect-error: no such field
  await session.search({ name: 'a', text: 'b', limit: 3 });
  const { hits } = await session.search({ name: 'a', text: 'b', filter: { '==': [{ knowledge: 'n' }, 1] } });
  const hit: Hit | undefined = hits[0];
  const score: number | undefined = hit?.bm25Score;
  const chapters = await session.search<{ year: number }>({ name: 'a', text: 'b' });
  const year: number | undefined = chapters.hits[0]?.metadata?.year;
  // @ts-expect-error: a chapter has no such field
  const page = chapters.hits[0]?.metadata?.page;
  return [score, year, page];
}

export function filters() {
  const right: FilterExpression[] = [
    { and: [{ '==': [{ knowledge: 'year' }, 1990] }, { not: { exists: { knowledge: 'end' } } }] },
    { year: { '>=': 1990, '<': 2000 } },
    { in: ['bees', { knowledge: 'tags' }] },
    { starts_with: [{ knowledge: 'file' }, { variable: 'folder' }] },
  ];
  const wrong: FilterExpression[] = [
    // @ts-expect-error: two operators in one object
    { and: [], or: [] },
    // @ts-expect-error: an operator and a field
    { not: { year: { '>': 1 } }, year: { '>': 1 } },
    // @ts-expect-error: a comparison has two operands
    { '==': [{ knowledge: 'year' }] },
    // @ts-expect-error: no such operator
    { year: { approximately: 1990 } },
    // @ts-expect-error: "and" takes a list
    { and: { year: { '>': 1 } } },
  ];
  return [right, wrong];
}

export function errors(error: unknown, lost: ConnectionLostError) {
  if (error instanceof ServerError) {
    if (error.code === 5002) {
      const limit: number = error.details.limit;
      const name: 'TextTooLong' = error.name;
      // @ts-expect-error: an error of this code has no such detail
      return [limit, name, error.details.cycle];
    }
    if (error.code === 4006) return error.details.cycle.join();
    // @ts-expect-error: there is no such code
    if (error.code === 4711) return;
    // @ts-expect-error: what a detail is depends on the code
    return error.details.tokens;
  }
  return lost.message;
}

export function failures({ error }: ServerFrames['TurnComplete']) {
  if (error?.code === 4014) return error.details.limit.toFixed();
  // @ts-expect-error: what a detail is depends on the code
  return error?.details.limit;
}
