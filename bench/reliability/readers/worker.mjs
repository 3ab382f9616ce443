// argv: folder, reader's name, seed, ms to search, whether short. Sends {tried, problems, note}; without a name {names}.
import { Random } from '../random.mjs';
import { climb, judge, longestInShort, longestStep } from './climb.mjs';
import { readersIn } from './list.mjs';

const [folder, name, seed, share, short] = process.argv.slice(2);
const { readers, close } = await readersIn(folder, { short: short === 'true' });
if (name === '') process.send({ names: readers.map((reader) => reader.name) });
else process.send(await worst(readers.find((reader) => reader.name === name)));
await close();
process.disconnect();

async function worst(reader) {
  await reader.open?.();
  // Compiles the reader, so that the first texts are not slower than others.
  for (const unit of reader.tokens) await reader.read(unit.repeat(20));
  const { best, count } = await climb(reader, new Random(Number(seed)), Date.now() + Number(share));
  const longestPiece = short === 'true' ? longestInShort : longestStep;
  const judged = [];
  for (const content of best) {
    process.send({ at: content });
    const first = await judge(reader, content, longestPiece);
    // What is wrong is wrong again; a collection of garbage, or another program, is not there twice.
    const again = first.problems.length > 0 ? await judge(reader, content, longestPiece) : first;
    judged.push({ content, ...(again.problems.length < first.problems.length ? again : first) });
  }
  await reader.close?.();
  judged.sort((a, b) => b.problems.length - a.problems.length || b.perCharacter - a.perCharacter);
  const { content, growth, perCharacter } = judged[0];
  const most = (key) => Math.max(...judged.map((one) => one[key]));
  return {
    tried: count,
    problems: judged.flatMap(({ content: of, problems }) =>
      problems.map((what) => `${what}; text: ${JSON.stringify(of)}`),
    ),
    note:
      `${perCharacter.toFixed(3)} µs a character, ${reader.ownThread ? '' : `longest piece ${most('longest').toFixed(0)} ms, `}` +
      `growth ${growth.toFixed(2)}; ${JSON.stringify(Object.values(content))}`,
  };
}
