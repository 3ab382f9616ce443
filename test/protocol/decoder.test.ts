import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import type { ServerError } from '../../src/protocol/errors.js';
import { testSeed } from '../helpers/random.js';
import { decodeSlowly, type SlowResult } from './slow-decoder.js';

const limit = 1000;

/** Feeds chunks and pulls frames after each, as a connection does. */
function decode(chunks: readonly Buffer[], maxPayloadBytes = limit): SlowResult {
  const decoder = new FrameDecoder(maxPayloadBytes);
  const frames: SlowResult['frames'] = [];
  try {
    for (const chunk of chunks) {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
        frames.push({ kind: frame.kind, payload: Buffer.from(frame.payload) });
      }
    }
  } catch (error) {
    return { frames, error: (error as ServerError).code as 1001 | 1003 };
  }
  return { frames };
}

const cut = (stream: Buffer, positions: readonly number[]): Buffer[] => {
  const ends = [...positions, stream.length];
  return ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
};

const sample = Buffer.concat([
  encodeFrame({ type: 'Ping', id: 1 }, limit),
  encodeFrame({ type: 'Ping', id: 'straße 東京' }, limit),
  Buffer.from([1, 0, 0, 0, 0]),
  Buffer.from([2, 0, 0, 0, 3, 7, 8, 9]),
  encodeFrame({ type: 'Ping', id: 2 }, limit),
]);

describe('the frame decoder', () => {
  it('gives every frame of a stream that arrives whole', () => {
    const { frames, error } = decode([sample]);
    expect(error).toBeUndefined();
    expect(frames.map(({ kind, payload }) => [kind, payload.length])).toEqual([
      [1, 22],
      [1, 37],
      [1, 0],
      [2, 3],
      [1, 22],
    ]);
    expect(JSON.parse(frames[1]?.payload.toString() ?? '')).toEqual({ type: 'Ping', id: 'straße 東京' });
    expect(frames).toEqual(decodeSlowly(sample, limit).frames);
  });

  it('tells whether a short frame is complete, in one piece, before anything of it is taken', () => {
    const decoder = new FrameDecoder(limit * 1000);
    const short = encodeFrame({ type: 'Ping', id: 1 }, limit);
    const long = Buffer.concat([Buffer.from([1, 0, 0, 4, 1]), Buffer.alloc(1025, 32)]);
    expect(decoder.holdsShortFrame).toBe(false);
    decoder.push(short.subarray(0, 4));
    expect(decoder.holdsShortFrame).toBe(false);
    decoder.push(short.subarray(4));
    expect(decoder.holdsShortFrame).toBe(false);
    expect(decoder.next()?.length).toBe(short.length - 5);
    decoder.push(Buffer.concat([short, long, short]));
    const held = [];
    for (let frame: unknown = short; frame !== undefined; frame = decoder.next())
      held.push(decoder.holdsShortFrame);
    expect(held).toEqual([true, false, true, false]);
  });

  it('gives the same frames when the stream arrives byte by byte', () => {
    const bytes = [...sample].map((byte) => Buffer.from([byte]));
    expect(decode(bytes)).toEqual(decodeSlowly(sample, limit));
  });

  it('gives the same frames when the stream is split at any boundary', () => {
    for (let position = 0; position <= sample.length; position++) {
      expect(decode(cut(sample, [position])), `split at ${position}`).toEqual(decodeSlowly(sample, limit));
    }
  });

  it('agrees with its slow twin on random streams in random pieces', () => {
    const header = fc.tuple(
      fc.constantFrom(1, 1, 1, 1, 2, 3, 0x47),
      fc.constantFrom(0, 1, 5, 70, 999, 1000, 1001, 2 ** 31),
    );
    const frame = fc.tuple(header, fc.uint8Array({ maxLength: 1100 })).map(([[kind, length], bytes]) => {
      const head = Buffer.alloc(5);
      head.writeUInt8(kind);
      head.writeUInt32BE(length, 1);
      const payload = Buffer.alloc(Math.min(length, 1100), Buffer.from(bytes.length > 0 ? bytes : [0]));
      return Buffer.concat([head, payload]);
    });
    const stream = fc.array(fc.oneof({ weight: 9, arbitrary: frame }, fc.uint8Array({ maxLength: 8 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(4000), { maxLength: 12 }), (parts, cuts) => {
        const bytes = Buffer.concat(parts);
        const positions = cuts.filter((position) => position < bytes.length).sort((a, b) => a - b);
        expect(decode(cut(bytes, positions))).toEqual(decodeSlowly(bytes, limit));
      }),
      { seed: testSeed, numRuns: 2000 },
    );
  });

  it('refuses an unknown kind at its first byte', () => {
    expect(decode([Buffer.from('G')]).error).toBe(1001);
  });

  it('takes a payload of exactly the limit and refuses one byte more before any of it arrives', () => {
    const exact = Buffer.concat([Buffer.from([1, 0, 0, 3, 0xe8]), Buffer.alloc(limit)]);
    expect(decode([exact]).frames).toHaveLength(1);
    expect(decode([Buffer.from([1, 0, 0, 3, 0xe9])])).toEqual({ frames: [], error: 1003 });
  });

  it('takes no memory for what a header merely promises', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 100 }, () => {
      const decoder = new FrameDecoder(1024 ** 3);
      decoder.push(Buffer.from([1, 0x3f, 0xff, 0xff, 0xff, 0x7b]));
      expect(decoder.next()).toBeUndefined();
      return decoder;
    });
    expect(decoders).toHaveLength(100);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  it('skips a frame in whatever pieces it arrives, and returns the beginning of its payload', () => {
    const payload = Buffer.from(Array.from({ length: 9000 }, (_, i) => i % 251));
    const frame = Buffer.concat([Buffer.from([1, 0, 0, 0x23, 0x28]), payload]);
    const stream = Buffer.concat([sample, frame, sample]);
    const positions = [0, 5, 6, 4100, 4102, 9004, 9005].map((at) => sample.length + at);
    for (const cuts of [[], positions, [sample.length + 9000], [sample.length + 5]]) {
      const decoder = new FrameDecoder(10_000);
      const seen: [number, number][] = [];
      for (const piece of cut(stream, cuts)) {
        decoder.push(piece);
        for (;;) {
          const next = decoder.next();
          if (next === undefined && decoder.announcedBytes < 9000) break;
          if (next === undefined) decoder.skip();
          const found = next ?? decoder.next();
          if (found === undefined) break;
          seen.push([found.length, found.payload.length]);
          if (found.length === 9000) expect(payload.subarray(0, found.payload.length)).toEqual(found.payload);
        }
        expect(decoder.heldBytes).toBeLessThanOrEqual(cuts.length === 0 ? stream.length : 9216);
      }
      // Without cuts the frame is complete at once, and there is nothing to skip.
      const kept = cuts.length === 0 ? 9000 : cuts.includes(sample.length + 9005) ? 4096 : seen[5]?.[1];
      expect(seen[5]).toEqual([9000, kept]);
      expect(seen.map(([length]) => length)).toEqual([22, 37, 0, 3, 22, 9000, 22, 37, 0, 3, 22]);
    }
  });

  it('joins a long payload in steps, each ended by isDue()', () => {
    const payload = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => i % 251));
    const frame = Buffer.concat([Buffer.from([1, 0, 0x16, 0xe3, 0x60]), payload]);
    const decoder = new FrameDecoder(2_000_000);
    for (let at = 0; at < frame.length; at += 65_536) {
      expect(decoder.next(() => true)).toBeUndefined();
      expect(decoder.joining).toBe(false);
      decoder.push(frame.subarray(at, at + 65_536));
    }
    let steps = 1;
    let joined = decoder.next(() => true);
    for (; joined === undefined && steps < 100; steps++) {
      expect(decoder.joining).toBe(true);
      expect(decoder.heldBytes).toBeLessThanOrEqual(2 * payload.length);
      joined = decoder.next(() => true);
    }
    expect(steps).toBeGreaterThan(4);
    expect(joined?.payload.equals(payload)).toBe(true);
    expect([decoder.joining, decoder.heldBytes]).toEqual([false, 0]);
  });

  it('can be left between two frames and picked up later', () => {
    const decoder = new FrameDecoder(limit);
    decoder.push(sample);
    expect(decoder.next()?.payload.length).toBe(22);
    decoder.push(encodeFrame({ type: 'Ping', id: 3 }, limit));
    const rest: number[] = [];
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next())
      rest.push(frame.payload.length);
    expect(rest).toEqual([37, 0, 3, 22, 22]);
  });
});

describe('the frame encoder', () => {
  it('has no bytes left after clear(), also between two frames of a chunk', () => {
    const decoder = new FrameDecoder(limit);
    decoder.push(sample);
    decoder.next();
    decoder.clear();
    expect(decoder).toMatchObject({ waitingBytes: 0, heldBytes: 0, holdsShortFrame: false });
  });

  it('counts bytes, not characters', () => {
    const bytes = encodeFrame({ text: 'ß東' }, limit);
    expect(bytes.readUInt32BE(1)).toBe(bytes.length - 5);
    expect(JSON.parse(bytes.subarray(5).toString())).toEqual({ text: 'ß東' });
  });

  it('refuses a frame over the limit', () => {
    expect(() => encodeFrame({ text: 'x'.repeat(limit) }, limit)).toThrow(
      expect.objectContaining({ code: 1003, name: 'FrameTooLarge' }),
    );
  });

  it('keeps long pieces of a payload as they came, and copies short ones', () => {
    const payload = Buffer.alloc(1_000_000, 'abcdefg');
    const decoder = new FrameDecoder(payload.length);
    decoder.push(Buffer.from([1, 0, 15, 66, 64]));
    decoder.next();
    const copies = 64 * 1024;
    let at = 0;
    for (const length of [60_000, 50_000, 10, ...Array.from({ length: 17 }, () => 50_000)]) {
      // A memory of its own, as after a read.
      const piece = Buffer.allocUnsafeSlow(length);
      payload.copy(piece, 0, at);
      decoder.push(piece);
      at += length;
      expect(decoder.next()).toBeUndefined();
      if (at < 200_000) expect(decoder.heldBytes).toBeLessThanOrEqual(at + (at > 110_000 ? 4 * copies : 0));
    }
    decoder.push(payload.subarray(at));
    expect(decoder.next()?.payload.equals(payload)).toBe(true);
  });
});
