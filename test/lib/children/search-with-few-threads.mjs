// Searches a text index on more threads than the process may have. Prints what was found, or one line that says why not.
import { setSearchThreads, TextIndex } from 'lorekeep';

try {
  setSearchThreads(64);
  const texts = Array.from({ length: 5000 }, (_, n) => `bees dance ${n}`);
  const index = await TextIndex.build(texts, { tokenizer: 'basic' });
  const hits = await Promise.all([1, 2, 3, 4].map((n) => index.search(`dance ${n}`, { k: 3 })));
  await index.close();
  console.log(`found ${hits.length}`);
} catch (error) {
  console.log(`refused: ${error.message}`);
}
