import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Bytes of a memory's id and of the secret part. */
const idBytes = 8;
const keyBytes = 32;

const form = /^([0-9a-f]{16})\.([A-Za-z0-9_-]{43})$/;

/** The secret of a memory: its id, which names its folder, and 256 random bits. Files hold only their digest. */
export interface MemorySecret {
  readonly id: string;
  readonly key: string;
}

export function makeSecret(): MemorySecret {
  return { id: randomBytes(idBytes).toString('hex'), key: randomBytes(keyBytes).toString('base64url') };
}

export const secretText = ({ id, key }: MemorySecret): string => `${id}.${key}`;

/** Returns undefined for a text that is no secret. */
export function parseSecret(text: string): MemorySecret | undefined {
  const [, id, key] = form.exec(text) ?? [];
  return id === undefined || key === undefined ? undefined : { id, key };
}

export const secretDigest = ({ key }: MemorySecret): string => createHash('sha256').update(key).digest('hex');

/** Compares in constant time. An absent digest is of no secret. */
export function isSecretOf(secret: MemorySecret, digest: string | undefined): boolean {
  const own = Buffer.from(secretDigest(secret), 'hex');
  const stored = Buffer.from(digest ?? '', 'hex');
  const isWhole = stored.length === own.length;
  return timingSafeEqual(own, isWhole ? stored : Buffer.alloc(own.length)) && isWhole;
}
