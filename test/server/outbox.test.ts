import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import type { ServerFrame } from '../../src/protocol/frames.js';
import { isLong, jsonPieces } from '../../src/protocol/json-pieces.js';
import { Outbox } from '../../src/server/outbox.js';

const limit = 1024 * 1024;

/** An outbox, what it wrote, and whether it asked for time. */
function outbox() {
  const decoder = new FrameDecoder(limit);
  let requests = 0;
  const socket = new Duplex({ write: (chunk, _, done) => done(void decoder.push(chunk)) }) as Socket;
  const box = new Outbox(socket, limit, { requestTime: () => requests++, written: () => {} });
  const frames = () => {
    const found: unknown[] = [];
    for (let frame = decoder.next(); frame; frame = decoder.next())
      found.push(JSON.parse(`${frame.payload}`));
    return found;
  };
  return { box, frames, requests: () => requests };
}

const pong = (reply_to: number): ServerFrame => ({ type: 'Pong', reply_to });
const text = (length: number): ServerFrame => ({
  type: 'TurnText',
  turn_id: 't',
  node: 'n',
  kind: 'reply',
  text: 'ß'.repeat(length),
});
const found = (hits: number): ServerFrame => ({
  type: 'SearchEmbeddedStringStorageResponse',
  reply_to: 5,
  hits: Array.from({ length: hits }, (_, rank) => ({
    id: `${rank}`,
    text: 'x'.repeat(2000),
    rank,
    score: 0,
  })),
  plan: { mode: 'lexical' },
});

describe('the outbox', () => {
  it('writes short frames at once, and long ones in slices, in their order', () => {
    const { box, frames, requests } = outbox();
    box.send(pong(1));
    expect(frames()).toEqual([pong(1)]);
    box.send(found(100));
    box.send(pong(2));
    expect([frames(), requests(), box.busy]).toEqual([[], 2, true]);
    let slices = 1;
    while (box.encode(() => true)) slices++;
    expect(slices).toBeGreaterThan(100);
    expect(frames()).toEqual([found(100), pong(2)]);
    expect(box.busy).toBe(false);
  });

  it('replaces a frame over the limit by what tells of it', () => {
    const { box, frames } = outbox();
    const complete: ServerFrame = {
      type: 'TurnComplete',
      turn_id: 't',
      status: 'completed',
      text: 'x'.repeat(limit),
    };
    for (const frame of [found(1000), text(limit), complete, pong(3)]) box.send(frame);
    expect(box.encode(() => false)).toBe(false);
    expect(frames()).toMatchObject([
      { type: 'Error', reply_to: 5, code: 1003, details: { limit } },
      { type: 'TurnComplete', turn_id: 't', status: 'failed', text: '', error: { code: 1003 } },
      { type: 'Pong', reply_to: 3 },
    ]);
  });
});

describe('JSON in pieces', () => {
  it("equals JSON.stringify's, in pieces of bounded length", () => {
    const value = {
      'a"b': Array.from({ length: 5000 }, (_, index) => ({
        index,
        text: '\n"ß'.repeat(index % 9),
        none: undefined,
      })),
      empty: { list: [], object: {}, nothing: null, absent: undefined },
      nested: [[Array.from({ length: 50_000 }, (_, index) => index / 7)], undefined, 'x'.repeat(100_000)],
    };
    const pieces = [...jsonPieces(value)];
    expect(pieces.join('')).toBe(JSON.stringify(value));
    expect(pieces.filter((piece) => piece.length > 100_010)).toEqual([]);
    expect([isLong(value), isLong({ a: 'x'.repeat(1000) })]).toEqual([true, false]);
  });
});
