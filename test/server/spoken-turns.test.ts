import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Activity } from '../../src/base/waiting/activity.js';
import { SpokenTurns, type SpokenTurnsOptions } from '../../src/server/speech/spoken-turns.js';
import type { SpeechEvent } from '../../src/speech/speech-stream.js';

/** A stream whose turns are collected; each ends with `ended`. */
function stream({
  ended = Promise.resolve(),
  barge_in = false,
  number = 1,
  unanswered = new Map(),
  texts = [] as string[],
} = {}) {
  const session = {
    startTurn: (_: string, { text }: { text: string }) => {
      texts.push(text);
      return { id: `t${texts.length}`, ended };
    },
    interrupt: () => [`t${texts.length}`],
  };
  const turns = new SpokenTurns({
    ...{
      session,
      agentId: 'a',
      stream: number,
      activity: new Activity(),
      attended: true,
      send: () => {},
      unanswered,
    },
    request: { id: 1, turns: 'push_to_talk', barge_in, variables: {} },
    failed: (error: unknown) => expect.unreachable(String(error)),
  } as unknown as SpokenTurnsOptions);
  const say = (text: string) =>
    turns.hear({
      ...{ kind: 'text', final: true, recognitionMs: 1 },
      found: { text, language: 'en' },
    } as unknown as SpeechEvent);
  return { turns, texts, say };
}

it('what is said waits for the end of the utterance', async () => {
  const { turns, texts, say } = stream();
  for (const word of ['one', 'two']) say(word);
  await nextTurn();
  expect(texts).toEqual([]);
  await turns.endUtterance();
  expect(texts).toEqual(['one two']);
});

it('a turn begins without the end of the utterance when a long text was said', async () => {
  const { texts, say } = stream();
  for (let n = 0; n < 800; n++) say('a'.repeat(99));
  await nextTurn();
  expect(texts).toEqual([Array.from({ length: 662 }, () => 'a'.repeat(99)).join(' ')]);
});

it('what interrupts a turn waits for its end, and begins none once the stream is closed', async () => {
  for (const closes of [false, true]) {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { turns, texts, say } = stream({ ended, barge_in: true });
    say('What is');
    await turns.endUtterance();
    turns.hear({ kind: 'started' } as SpeechEvent);
    say('the time?');
    const begun = turns.endUtterance();
    if (closes) turns.close();
    end();
    await begun;
    expect(texts).toEqual(closes ? ['What is'] : ['What is', 'What is the time?']);
  }
});

it('an interrupted turn goes on with the stream that has interrupted it', async () => {
  const shared = { unanswered: new Map(), texts: [] as string[] };
  const asks = stream(shared);
  const interrupts = stream({ ...shared, number: 2, barge_in: true });
  const third = stream({ ...shared, number: 3 });
  asks.say('What is the weather?');
  await asks.turns.endUtterance();
  interrupts.turns.hear({ kind: 'started' } as SpeechEvent);
  third.say('Hello.');
  await third.turns.endUtterance();
  interrupts.say('And the time?');
  await interrupts.turns.endUtterance();
  expect(asks.texts).toEqual(['What is the weather?', 'Hello.', 'What is the weather? And the time?']);
});
