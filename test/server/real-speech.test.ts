/** Speech over the wire with the weights of Whisper, and speech that espeak-ng makes. */
import { describe, expect, it } from 'vitest';
import type { SpeechEvent } from '../../src/client/index.js';
import { haveEspeak, espeakRate as rate, said } from '../helpers/espeak.js';
import { haveWhisper, whisperTiny } from '../helpers/speech-models.js';
import { allEvents, speechServer } from './speech-setting.js';

/** Utterances with a second of silence around each. */
function utterances(...texts: string[]): Int16Array {
  const silence = new Int16Array(rate);
  const parts = texts.flatMap((text) => [silence, said(text)]);
  const all = [...parts, silence];
  const samples = new Int16Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

const textsOf = (events: readonly SpeechEvent[]) =>
  events.flatMap((event) => (event.type === 'SpeechText' && event.final ? [event.text] : []));

describe.runIf(haveWhisper() && haveEspeak('speech over the wire with real weights'))(
  'speech over the wire with real weights',
  () => {
    it('is written down: the utterances of a file, in order, with texts before they end', async () => {
      const session = await (await speechServer({}, whisperTiny)).session();
      const speech = await session.openSpeech({ rate, partial: true, words: true });
      const events = allEvents(speech);
      const samples = utterances('The weather is very nice today.', 'Please open the window.');
      for (let at = 0; at < samples.length; at += rate / 10)
        await speech.write(samples.subarray(at, at + rate / 10));
      await speech.finish();
      const heard = await events;
      const [first, second, ...more] = textsOf(heard);
      expect(first).toMatch(/weather.*nice.*today/i);
      expect(second).toMatch(/open.*window/i);
      expect(more).toEqual([]);
      const ofFirst = heard.filter((event) => 'segment' in event && event.segment === 1);
      const kinds = ofFirst.map((event) =>
        event.type === 'SpeechText' ? (event.final ? 'final' : 'partial') : event.type,
      );
      expect(kinds.join(' ')).toMatch(/^SpeechStarted (partial )*SpeechEnded final$/);
      const final = ofFirst.find((event) => event.type === 'SpeechText' && event.final);
      const words = (final?.type === 'SpeechText' && final.words) || [];
      expect(words.map(({ text }) => text).join(' ')).toBe(first);
      for (const [i, { beginMs, endMs }] of words.entries()) {
        expect(endMs).toBeGreaterThanOrEqual(beginMs);
        expect(beginMs).toBeGreaterThanOrEqual(words[i - 1]?.beginMs ?? 800);
        expect(endMs).toBeLessThanOrEqual(final?.type === 'SpeechText' ? final.endMs + 500 : 0);
      }
    });

    it('becomes a turn of an agent', async () => {
      const session = await (await speechServer({}, whisperTiny)).session();
      const text = 'The ferry leaves on Tuesdays.';
      await session.createEmbeddedStringStorage({ name: 'facts', strings: [text], embeddingModel: 'tiny' });
      const agent = await session.createAgent({
        graph: { nodes: [{ id: 'kb', type: 'retrieve', params: { embeddedStringStorage: 'facts' } }] },
      });
      const speech = await session.openSpeech({ rate, agentId: agent.id });
      const events = allEvents(speech);
      await speech.write(utterances('Please open the window.'));
      await speech.finish();
      const heard = await events;
      const started = heard.find((event) => event.type === 'TurnStarted');
      expect(started).toMatchObject({ text: expect.stringMatching(/open.*window/i) });
      expect(heard.find((event) => event.type === 'TurnComplete')).toMatchObject({ status: 'completed' });
    });
  },
);
