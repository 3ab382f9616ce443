// The readers of what remote models answer: see list.mjs. Each part of an answer is one slice of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { chatChunk } from '../../../dist/src/models/remote/chat-chunk.js';
import { EventStream } from '../../../dist/src/models/remote/event-stream.js';
import { Reply } from '../../../dist/src/models/remote/reply.js';
import { StopTexts } from '../../../dist/src/models/remote/stop-texts.js';
import { words } from './parts.mjs';

const mib = 1024 * 1024;
/** Bytes that arrive at once. */
const packet = 65_536;
const event = (content) => `data: {"choices":[{"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
/** The longest stop texts that a request may have, of the kind that replies begin again and again. */
const stops = Array.from({ length: 16 }, (_, n) => `${'a'.repeat(255 - n)}b`);

export const remote = [
  {
    name: 'replies of remote models',
    limit: mib,
    tokens: [
      event('a'),
      event('a'.repeat(300)),
      event('\ud800'),
      event('b'),
      ...words(
        'data: data:{} error: : \ufeff { } [ ] , "a" 1 "logprobs":{"content":[ {"token":"a","logprob":-1},',
      ),
      '\n',
      '\r\n',
      '\n\n',
    ],
    seeds: [
      { unit: event('a') },
      { unit: event(`${'a'.repeat(250)}c`) },
      { head: event('a'.repeat(250)), unit: event('a') },
      { head: 'data: {"choices":[{"delta":{"content":"', unit: 'a', tail: '"}}]}\n\n' },
      { unit: event('a'.repeat(260_000)) },
      { head: 'data: {"choices":[{"logprobs":{"content":[', unit: '1,', tail: '1]}}]}\n\n' },
      {
        head: 'data: {"choices":[{"logprobs":{"content":[{"top_logprobs":[',
        unit: '{"token":"a"},',
        tail: '1]}]}}]}\n\n',
      },
      { unit: 'data: {\n' },
      { unit: 'data:\n\n' },
      { head: 'data: ', unit: '[', close: ']' },
    ],
    read: async (text) => {
      const events = new EventStream();
      const stopped = new StopTexts(stops);
      const reply = new Reply(() => {});
      let isOver = false;
      const take = (all) => {
        for (const data of all ?? []) {
          const chunk = chatChunk(data);
          isOver ||= chunk === undefined;
          if (isOver) return;
          reply.think(chunk.thinking);
          reply.text(stopped.push(chunk.text), chunk.logprobs);
        }
      };
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length && !isOver; at += packet) {
        await nextTurn();
        const found = events.push(bytes.subarray(at, at + packet));
        if (found === undefined) return; // an event that is too long
        take(found);
      }
      take(events.finish());
      reply.text(stopped.finish());
      reply.end({});
      reply.result(1);
    },
  },
];
