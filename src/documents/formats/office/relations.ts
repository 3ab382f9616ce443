import { posix } from 'node:path';
import { readElements } from './xml-events.js';

/** A relation of a part to another one. */
export interface Relation {
  readonly type: string;
  readonly target: string;
}

/** Returns a part's relations by their ids. */
export function relations(xml: string | undefined): Map<string, Relation> {
  const found = new Map<string, Relation>();
  readElements(xml, {
    open: (name, { Id, Target, Type = '' }) => {
      if (/(?:^|:)Relationship$/.test(name) && Id !== undefined && Target !== undefined)
        found.set(Id, { type: Type, target: Target });
    },
  });
  return found;
}

/** Returns the path of the relations of a part. */
export const relationsPath = (part: string): string =>
  posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);

/** Returns the path of a target in the archive. */
export const resolvedTarget = (part: string, target: string): string =>
  target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(part), target);
