import type { TextModel } from '../../../catalog/text-model.js';
import { loopTurn } from '../../../lifecycle/loop-turn.js';

/** Texts counted between two turns of the client: a call per text takes some microseconds of the event loop. */
const countedAtOnce = 32;

/** Counts the tokens of each text, a few at a time: a history may have thousands. */
export async function countEach(model: TextModel, texts: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for (let at = 0; at < texts.length; at += countedAtOnce) {
    if (at > 0) await loopTurn();
    const some = texts.slice(at, at + countedAtOnce).map((text) => model.countTokens(text));
    counts.push(...(await Promise.all(some)));
  }
  return counts;
}
