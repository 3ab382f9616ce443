import type { Work } from '../languages/work.js';
import { refuse, type Schema, targetOf } from './schema-checks.js';
import type { Located } from './shape.js';

/** Keywords whose values are no schemas. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);

/** A schema with an address of its own, to which references within it are relative. */
interface Resource {
  readonly address: string;
  readonly schema: unknown;
  readonly at: string;
}

const own = 'schema:///';

/** Units of work of an object that is indexed. */
const indexUnits = 1;

/** The targets of references, all of them in one document. */
export class References {
  readonly #root: Resource;
  readonly #work: Work;
  /** Values to be indexed; undefined before the first reference. */
  #open: [value: unknown, at: string, resource: Resource][] | undefined;
  readonly #resources = new Map<string, Resource>();
  readonly #anchors = new Map<string, Located>();
  /** What references were found to lead to: many alternatives may go through one. */
  readonly #targets = new WeakMap<object, Located>();
  /** The resource that a schema is in, if it is not the root. */
  readonly #within = new WeakMap<object, Resource>();

  constructor(root: unknown, work: Work) {
    this.#work = work;
    this.#root = { address: own, schema: root, at: '' };
  }

  readonly resolve = (schema: Schema, at: string): Located => {
    const known = this.#targets.get(schema);
    if (known !== undefined) return known;
    const target = this.#find(schema, at);
    this.#targets.set(schema, target);
    return target;
  };

  #find(schema: Schema, at: string): Located {
    const { $ref: reference } = schema;
    const place = `${at}/$ref`;
    if (typeof reference !== 'string') refuse(place, 'a string is expected');
    this.#index();
    const base = this.#within.get(schema) ?? this.#root;
    const [address = '', fragment = ''] = splitAddress(reference, base.address);
    const resource = this.#resources.get(address);
    if (resource === undefined) refuse(place, 'only references within the schema (#/...) are possible');
    if (fragment === '' || fragment.startsWith('/')) {
      const target = targetOf(resource.schema, fragment);
      if (target !== undefined) return { schema: target, at: resource.at + decodeURIComponent(fragment) };
    }
    return (
      this.#anchors.get(`${address}#${fragment}`) ??
      refuse(place, `${JSON.stringify(reference.slice(0, 128))} is not in the schema`)
    );
  }

  /** @throws PieceOver: the next call continues */
  #index(): void {
    this.#resources.set(own, this.#resources.get(own) ?? this.#root);
    this.#open ??= [[this.#root.schema, '', this.#root]];
    const open = this.#open;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [value, at, outer] = next;
      if (typeof value !== 'object' || value === null) continue;
      const resource = this.#resourceAt(value as Schema, at, outer);
      if (resource !== this.#root) this.#within.set(value, resource);
      const { $anchor: anchor } = value as Schema;
      if (typeof anchor === 'string')
        this.#anchors.set(`${resource.address}#${anchor}`, { schema: value, at });
      for (const [key, part] of Object.entries(value)) {
        if (values.has(key) || typeof part !== 'object') continue;
        open.push([part, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, resource]);
      }
      this.#work.spend(indexUnits);
      this.#work.mayPause();
    }
  }

  #resourceAt(schema: Schema, at: string, outer: Resource): Resource {
    const { $id: id } = schema;
    if (typeof id !== 'string' || Array.isArray(schema)) return outer;
    const [address = ''] = splitAddress(id, outer.address);
    if (at === '') {
      // The root keeps both addresses.
      this.#resources.set(address, { ...this.#root, address });
      const root = { ...this.#root, address };
      return root;
    }
    const resource = { address, schema, at };
    this.#resources.set(address, resource);
    return resource;
  }
}

/** An absolute address and its fragment; none if the reference is malformed. */
function splitAddress(reference: string, base: string): string[] {
  // Nearly all references are such, and an URL takes long.
  if (reference.startsWith('#')) return [base, reference.slice(1)];
  let address: URL;
  try {
    address = new URL(reference, base);
  } catch {
    return [];
  }
  const fragment = address.hash.slice(1);
  address.hash = '';
  return [address.href.replace(/#$/, ''), fragment];
}
