// One step of one engine, in a process of its own: makes an index, or answers from it. The parent ends it.
import { once } from 'node:events';

/** Queries before the timed ones, where not every query is asked. */
const warmUp = 20;

const [message] = await Promise.all([once(process, 'message'), process.send({ ready: true })]);
const [{ engine, step, folder, texts, questions, every, depth, rows, seconds }] = message;

try {
  const { build, open } = await import(`./engines/${engine}.mjs`);
  if (step === 'build') {
    const begin = performance.now();
    await build(texts, folder);
    process.send({ ms: performance.now() - begin });
  } else {
    const search = await open(folder, rows);
    const found = [await search(questions[0], depth)];
    process.send({ first: true });
    const memory = process.memoryUsage.rss();
    for (const question of questions.slice(1, every ? undefined : 1 + warmUp))
      found.push(await search(question, depth));
    const begin = performance.now();
    let count = 0;
    while (performance.now() - begin < seconds * 1000)
      await search(questions[count++ % questions.length], depth);
    const rate = (count / (performance.now() - begin)) * 1000;
    process.send({ found, memory, rate });
  }
} catch (error) {
  process.send({ error: String(error?.message ?? error).split('\n')[0] }, () => process.exit(1));
}
