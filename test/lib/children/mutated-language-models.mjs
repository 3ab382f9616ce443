// Loads truncated and mutated copies of a language model and generates with the ones that load:
// node mutated-language-models.mjs MODEL FOLDER SEED COUNT. Sends the seed of each copy before it is loaded, and at the end the number of copies by outcome.
// Each error of a load names the file, and the model itself, loaded before, keeps generating the same text.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LanguageModel, LorekeepError } from '../../../dist/lib/index.js';

const [model, folder, firstSeed, count] = process.argv.slice(2);
const source = readFileSync(model);
/** Metadata and tensor table, where most damage has consequences, of the small models of tests. */
const headerBytes = Math.min(21_000, source.length - 8);
const path = join(folder, `mutated-${process.pid}.gguf`);
const outcomes = {};
const runtimes = ['decoder', 'llama.cpp', 'auto'];
const small = { contextSize: 64, threads: 1, batchThreads: 1, placement: 'ram' };
const whole = await LanguageModel.load(model, small);
const reply = async () => {
  const request = { prompt: 'Once upon a time', maxTokens: 8, sampling: { temperature: 0 } };
  return (await whole.generate(request).result).text;
};
const expected = await reply();

for (let seed = Number(firstSeed); seed < Number(firstSeed) + Number(count); seed++) {
  process.send({ seed });
  writeFileSync(path, mutated(randomOf(seed)));
  const outcome = await outcomeOf(runtimes[seed % runtimes.length]);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (seed % 8 === 0 && (await reply()) !== expected) throw new Error('another model has changed');
}
rmSync(path);
await whole.close();
process.send({ outcomes }, () => process.exit());

async function outcomeOf(runtime) {
  let loaded;
  try {
    loaded = await LanguageModel.load(path, { ...small, runtime });
    await loaded.generate({ prompt: 'Once upon a time', maxTokens: 4 }).result;
    return 'loaded';
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    if (loaded === undefined && !error.message.includes(path)) throw error;
    return error.code;
  } finally {
    await loaded?.close();
  }
}

/** Random numbers from a seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { uniform, integer: (below) => Math.floor(uniform() * below) };
}

function mutated(random) {
  const kind = random.integer(4);
  if (kind === 0) return source.subarray(0, random.integer(source.length));
  const bytes = Buffer.from(source);
  const changes = [1, 1, 4, 30][kind];
  for (let left = 1 + random.integer(changes); left > 0; left--) change(bytes, random);
  return bytes;
}

function change(bytes, random) {
  const at = random.integer(random.uniform() < 0.8 ? headerBytes : bytes.length - 8);
  const pick = (list) => list[random.integer(list.length)];
  switch (random.integer(4)) {
    case 0:
      bytes[at] = random.integer(256);
      return;
    case 1:
      bytes[at] = pick([0, 1, 0x7f, 0x80, 0xff]);
      return;
    case 2:
      bytes.writeUInt32LE(pick([0, 1, 2, 3, 7, 65_536, 1_000_000, 0x7fffffff, 0xffffffff]), at);
      return;
    default:
      bytes.writeBigUInt64LE(
        pick([0n, 1n, 1n << 32n, 1n << 40n, 0x7fffffffffffffffn, 0xffffffffffffffffn]),
        at,
      );
  }
}
