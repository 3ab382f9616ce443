// One step of one engine, in a process of its own: makes an index, or answers from it.
import { once } from 'node:events';

const [message] = await Promise.all([once(process, 'message'), process.send({ ready: true })]);
const [{ engine, step, folder, texts, questions, depth, rows }] = message;

try {
  const { build, open } = await import(`./engines/${engine}.mjs`);
  if (step === 'build') {
    const begin = performance.now();
    await build(texts, folder);
    process.send({ ms: performance.now() - begin }, () => process.exit(0));
  } else {
    const search = await open(folder, rows);
    const found = [await search(questions[0], depth)];
    process.send({ first: true });
    const memory = process.memoryUsage.rss();
    for (const question of questions.slice(1)) found.push(await search(question, depth));
    // Once more, warm: at least a second.
    const begin = performance.now();
    let count = 0;
    while (performance.now() - begin < 1000) await search(questions[count++ % questions.length], depth);
    const rate = (count / (performance.now() - begin)) * 1000;
    process.send({ found, memory, rate }, () => process.exit(0));
  }
} catch (error) {
  process.send({ error: String(error?.message ?? error).split('\n')[0] }, () => process.exit(1));
}
