import { statSync } from 'node:fs';

const firstPart = /-00001-of-(\d{5})\.gguf$/;
const maxParts = 999;

/** Returns the names of all parts of a split GGUF from the first, "x-00001-of-00003.gguf"; of any other file, its own. */
export function partNames(first: string): string[] {
  const found = firstPart.exec(first);
  const count = Number(found?.[1] ?? 1);
  if (found === null || count < 1 || count > maxParts) return [first];
  const stem = first.slice(0, found.index);
  return Array.from(
    { length: count },
    (_, index) => `${stem}-${String(index + 1).padStart(5, '0')}-of-${found[1]}.gguf`,
  );
}

/** Bytes of a model file, all parts together; undefined if one is missing or cannot be looked at. */
export function modelBytes(path: string): number | undefined {
  let sum = 0;
  for (const part of partNames(path)) {
    const size = sizeOf(part);
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined; // who opens the file says why
  }
}

/** Size and checksums of a model file that a catalog states. */
export interface StatedContent {
  /** Checksum of the file; for a split model, of its first part. */
  sha256?: string | undefined;
  /** Checksum of each part of a split model. */
  parts_sha256?: readonly string[] | undefined;
}

/** Returns the stated SHA-256 of a part, in small letters. `index`: from 0 */
export function statedChecksum({ sha256, parts_sha256 }: StatedContent, index: number): string | undefined {
  return (parts_sha256?.[index] ?? (index === 0 ? sha256 : undefined))?.toLowerCase();
}
