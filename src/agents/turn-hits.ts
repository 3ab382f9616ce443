import { mapInSlices } from '../base/waiting/next-slice.js';
import type { TurnHit } from '../protocol/components.js';
import type { ServerFrames } from '../protocol/frames.js';
import { jsonPieces } from '../protocol/json-pieces.js';
import type { Component, Knowledge } from './component.js';

type Complete = ServerFrames['TurnComplete'];

/** Room for the names of the fields that are added, and for `hits_omitted`. */
const fieldBytes = 64;

/** Returns the components that are hits, in the order in which the nodes found them. */
export function hitsOf(components: readonly Component[], wanted: (node: string) => boolean): Knowledge[] {
  return components.filter(
    (component): component is Knowledge =>
      component._type === 'knowledge' && wanted((component as Knowledge).node),
  );
}

/**
 * Adds hits to a TurnComplete, as many as a frame of `limit` bytes has room for. `hits_omitted` counts the others. Works in
 * slices of the client's time.
 */
export async function withHits(
  complete: Complete,
  found: readonly Knowledge[],
  limit: number,
): Promise<Complete> {
  const measured = await mapInSlices(found, ({ _type, ...hit }) => ({ hit, bytes: bytesOf(hit) + 1 }));
  let left = limit - fieldBytes - bytesOf(complete);
  const hits: TurnHit[] = [];
  for (const { hit, bytes } of measured) {
    left -= bytes;
    if (left < 0) break;
    hits.push(hit);
  }
  const omitted = found.length - hits.length;
  return { ...complete, hits, ...(omitted > 0 && { hits_omitted: omitted }) };
}

function bytesOf(value: unknown): number {
  let bytes = 0;
  for (const piece of jsonPieces(value)) bytes += Buffer.byteLength(piece);
  return bytes;
}
