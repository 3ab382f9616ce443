import { beforeAll, describe, expect, it } from 'vitest';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import { ServerError } from '../../src/protocol/errors.js';
import { idOf, parseRequest } from '../../src/protocol/request.js';
import { framed, hostilePayload, rightRequests } from '../helpers/hostile-frames.mjs';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { parseObject } from './parse-object.js';

const frames = repetitions('FRAMES', 25_000, 1_000_000);
const streams = repetitions('STREAMS', 1000, 20_000);
const requests = rightRequests('s1', 's1.a1');

/** What a connection does with a payload before it calls a handler: undefined for a request, else the code. */
function refusalOf(payload: Buffer): number | undefined {
  try {
    const object = parseObject(payload);
    idOf(object);
    parseRequest(object);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return error.code;
  }
}

// Half of the time would go into stacks that nobody reads.
beforeAll(() => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  return () => {
    Error.stackTraceLimit = stackTraceLimit;
  };
});

describe('random and mutated frames', () => {
  it('are each taken or refused with a code of the protocol, and framing is never lost', () => {
    const next = random(testSeed);
    const decoder = new FrameDecoder(1024 * 1024);
    const outcomes = new Map<number | undefined, number>();
    let sent = 0;
    let taken = 0;
    let stream = Buffer.alloc(0);
    while (taken < frames) {
      while (stream.length < 64 * 1024 && sent < frames) {
        const batch = Array.from({ length: 100 }, () => framed(hostilePayload(requests, next)));
        sent += batch.length;
        stream = Buffer.concat([stream, ...batch]);
      }
      const end = Math.min(stream.length, 1 + Math.floor(next() * 60_000));
      decoder.push(stream.subarray(0, end));
      stream = stream.subarray(end);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
        const code = refusalOf(frame.payload);
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
        taken++;
      }
    }
    const seen = `seed ${testSeed}: ${JSON.stringify([...outcomes])}`;
    expect([...outcomes.keys()].sort(), seen).toEqual([1001, 1002, 1004, undefined]);
    expect(decoder.midFrame, seen).toBe(false);
    for (const count of outcomes.values()) expect(count, seen).toBeGreaterThan(frames / 100);
  });

  it('and random bytes lose the framing at most', () => {
    const next = random(testSeed);
    for (let stream = 0; stream < streams; stream++) {
      const decoder = new FrameDecoder(1024);
      decoder.push(Buffer.from(Array.from({ length: 50 }, () => Math.floor(next() ** 4 * 256))));
      try {
        while (decoder.next() !== undefined);
      } catch (error) {
        expect(error, `seed ${testSeed}`).toMatchObject({
          code: expect.toSatisfy((code) => code === 1001 || code === 1003),
        });
      }
    }
  });
});
