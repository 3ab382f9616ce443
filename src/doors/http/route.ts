import type { z } from 'zod';
import type { Right } from '../../config/keys-file.js';
import type { Exchange } from './exchange.js';
import type { FieldNames } from './failure.js';

/** A parameter of a query string or a header, for the OpenAPI document. */
export interface Parameter {
  readonly name: string;
  readonly schema: z.ZodType;
}

/** One address of the doors. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Begins with `/`; a part such as `{storage}` stands for one segment. */
  readonly path: string;
  /** The right that it needs; undefined: none, and no key either. */
  readonly right: Right | 'any' | undefined;
  /** Whether a file of this machine may call it, whose origin is `null`. */
  readonly fromFile?: boolean;
  /** Its name in the OpenAPI document; unique. */
  readonly operation: string;
  readonly summary: string;
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  readonly body?: z.ZodType;
  readonly reply?: z.ZodType;
  /** When the reply is a stream of server-sent events, in words; undefined: never. */
  readonly streams?: string;
  /** Successful statuses other than 200, with their meanings. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Errors in another shape than those of the doors. */
  readonly otherErrors?: z.ZodType;
  /** How the fields of frames and graphs are called in its body. */
  readonly fieldNames?: FieldNames;
  serve(exchange: Exchange): Promise<void>;
}

interface Segmented {
  readonly route: Route;
  readonly segments: readonly string[];
}

/** Finds routes by method and path. */
export class RouteTable {
  readonly #routes: readonly Segmented[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, segments: route.path.split('/') }));
  }

  /** Returns the route and its parameters; the methods of the path if there is none for this method; undefined for an unknown path. */
  find(
    method: string | undefined,
    path: string,
  ): { route: Route; params: Record<string, string> } | { methods: string[] } | undefined {
    const given = path.split('/');
    const methods: string[] = [];
    for (const { route, segments } of this.#routes) {
      const params = match(segments, given);
      if (params === undefined) continue;
      if (route.method === method) return { route, params };
      methods.push(route.method);
    }
    return methods.length === 0 ? undefined : { methods };
  }
}

function match(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = Object.create(null);
  for (const [index, segment] of segments.entries()) {
    const value = given[index] as string;
    if (!segment.startsWith('{')) {
      if (segment !== value) return undefined;
      continue;
    }
    const decoded = decode(value);
    if (decoded === undefined || decoded === '') return undefined;
    params[segment.slice(1, -1)] = decoded;
  }
  return params;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
