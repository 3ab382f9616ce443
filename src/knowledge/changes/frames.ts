import { sealChanges } from '../../../lib/internal.js';
import { clientSlices, mapInSlices } from '../../base/waiting/next-slice.js';

/** A change of one record, as a change log holds it. */
export type LoggedOperation =
  | { kind: 'put'; id: string /** The record as JSON. */; json: string; vector: Float32Array }
  | { kind: 'remove'; id: string };

/** What the header of a change log says: native/store/change_log.h. Digests are 16 hexadecimal digits. */
export interface LogHeader {
  id: string;
  dimension: number;
  records: { size: number; checksum: string };
  model: string;
  baseVersion: number;
}

const magic = Buffer.from('LKCHNGE\0', 'latin1');
const formatVersion = 1;
export const headerBytes = 64;

const frameMagic = 0x54424b4c;
const frameBytes = 64;
const operationBytes = 16;
const markBytes = 16;
const frameKinds = { batch: 1, merge: 2 } as const;
const operationKinds = { put: 1, remove: 2 } as const;
const durableAt = 24;

const aligned = (size: number) => Math.ceil(size / 8) * 8;
const digest = (text: string) => BigInt(`0x${text}`);

/** Returns the bytes of a header. */
export function headerOf({ id, dimension, records, model, baseVersion }: LogHeader): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  magic.copy(bytes);
  bytes.writeUInt32LE(formatVersion, 8);
  bytes.writeUInt32LE(dimension, 12);
  const numbers = [
    digest(id),
    BigInt(records.size),
    digest(records.checksum),
    digest(model),
    BigInt(baseVersion),
  ];
  for (const [at, value] of numbers.entries()) bytes.writeBigUInt64LE(value, 16 + 8 * at);
  sealChanges(bytes);
  return bytes;
}

/** The operations of a batch, behind room for the head of their frame. */
export interface EncodedBatch {
  readonly bytes: Buffer;
  readonly count: number;
}

/** Returns the bytes of a batch, without its checksums: see sealFrame(). The same ones as those of the encoded operations. */
export function batchOf(version: number, time: number, { bytes, count }: EncodedBatch): Buffer {
  writeHead(bytes, 'batch', version, time, count);
  return bytes;
}

/** Encodes operations in slices of the event loop: a batch may have a hundred thousand. */
export async function encodedBatch(operations: readonly LoggedOperation[]): Promise<EncodedBatch> {
  const sizes = await mapInSlices(operations, sizeOf);
  const payload = sizes.reduce((sum, { size }) => sum + size, 0);
  const slices = clientSlices();
  const bytes = Buffer.alloc(frameBytes + payload);
  let at = frameBytes;
  let step = at;
  for (const [index, operation] of operations.entries()) {
    if (index % operationsPerStep === 0 || at - step >= bytesPerStep) {
      step = at;
      if (slices.over) await slices.next();
    }
    const { idBytes, jsonBytes, size } = sizes[index] as OperationSize;
    bytes.writeUInt32LE(operationKinds[operation.kind], at);
    bytes.writeUInt32LE(idBytes, at + 4);
    bytes.writeUInt32LE(jsonBytes, at + 8);
    let to = at + operationBytes;
    if (operation.kind === 'put') {
      const { buffer, byteOffset, byteLength } = operation.vector;
      bytes.set(new Uint8Array(buffer, byteOffset, byteLength), to);
      to += byteLength;
    }
    to += bytes.write(operation.id, to);
    if (operation.kind === 'put') bytes.write(operation.json, to);
    at += size;
  }
  return { bytes, count: operations.length };
}

/** What is encoded between two readings of the clock, in some 0.2 ms. */
const operationsPerStep = 64;
const bytesPerStep = 256 * 1024;

/** Returns the mark of a merge that writes the records file `records` with the changes up to `version`. */
export function mergeMarkOf(
  version: number,
  time: number,
  records: { size: number; checksum: string },
): Buffer {
  const bytes = Buffer.alloc(frameBytes + markBytes);
  writeHead(bytes, 'merge', version, time, 0);
  bytes.writeBigUInt64LE(BigInt(records.size), frameBytes);
  bytes.writeBigUInt64LE(digest(records.checksum), frameBytes + 8);
  return bytes;
}

/** Completes a frame for a log. `durable`: bytes of the file that are on the device. */
export function sealFrame(frame: Buffer, logId: string, durable: number): void {
  frame.writeBigUInt64LE(BigInt(durable), durableAt);
  sealChanges(frame, logId);
}

interface OperationSize {
  idBytes: number;
  jsonBytes: number;
  size: number;
}

function sizeOf(operation: LoggedOperation): OperationSize {
  const idBytes = Buffer.byteLength(operation.id);
  const isPut = operation.kind === 'put';
  const jsonBytes = isPut ? Buffer.byteLength(operation.json) : 0;
  const vectorBytes = isPut ? operation.vector.byteLength : 0;
  return { idBytes, jsonBytes, size: aligned(operationBytes + vectorBytes + idBytes + jsonBytes) };
}

function writeHead(
  bytes: Buffer,
  kind: keyof typeof frameKinds,
  version: number,
  time: number,
  operations: number,
): void {
  bytes.writeUInt32LE(frameMagic, 0);
  bytes.writeUInt32LE(frameKinds[kind], 4);
  bytes.writeBigUInt64LE(BigInt(version), 8);
  bytes.writeBigInt64LE(BigInt(Math.trunc(time)), 16);
  bytes.writeBigUInt64LE(BigInt(bytes.length - frameBytes), 32);
  bytes.writeUInt32LE(operations, 40);
}
