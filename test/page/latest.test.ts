import { expect, it } from 'vitest';
import { readEvents } from '../../web/page/events.js';
import { Latest } from '../../web/page/latest.js';

it('a late answer to an older question never replaces a newer one', async () => {
  const latest = new Latest();
  const shown: string[] = [];
  const answers: ((text: string) => void)[] = [];
  const ask = () =>
    latest.ask(
      () => new Promise<string>((resolve) => answers.push(resolve)),
      (text) => shown.push(text),
      (error) => shown.push(error.message),
    );
  ask();
  ask();
  ask();
  answers[2]?.('third');
  await new Promise(setImmediate);
  answers[0]?.('first');
  answers[1]?.('second');
  await new Promise(setImmediate);
  expect(shown).toEqual(['third']);
});

it('the failure of an older question is not told, and the older request is cancelled', async () => {
  const latest = new Latest();
  const shown: string[] = [];
  const signals: AbortSignal[] = [];
  const failing = (signal: AbortSignal) => {
    signals.push(signal);
    return Promise.reject(new Error('late'));
  };
  latest.ask(
    failing,
    () => {},
    (error) => shown.push(error.message),
  );
  latest.ask(
    async () => 'now',
    (text) => shown.push(text),
    () => {},
  );
  await new Promise(setImmediate);
  expect(shown).toEqual(['now']);
  expect(signals[0]?.aborted).toBe(true);
});

const never = (error: unknown): never => {
  throw error;
};

it('events are read whatever pieces they come in', async () => {
  const text = 'event: text\ndata: {"text":"ä€😀"}\n\n:\n\nevent: answer\ndata: a\ndata: b\n\n';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 3, 7, bytes.length]) {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const seen = [];
    for await (const event of readEvents(stream, never)) seen.push(event);
    expect(seen).toEqual([
      { name: 'text', data: '{"text":"ä€😀"}' },
      { name: 'message', data: '' },
      { name: 'answer', data: 'a\nb' },
    ]);
  }
});
