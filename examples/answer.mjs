// Answers a question about a file: finds the paragraphs that match, and streams a reply grounded in them.
// node answer.mjs MODEL.gguf [file] [question]
import { readFile } from 'node:fs/promises';
import { LanguageModel, TextIndex } from 'lorekeep';

const file =
  process.argv[3] ?? new URL('docs/reference/protocol.md', import.meta.resolve('lorekeep/package.json'));
const question = process.argv[4] ?? 'Which replies may come in any order?';
const paragraphs = (await readFile(file, 'utf8')).split(/\n\s*\n/).filter((text) => /^[A-Z].{40}/.test(text));

const words = await TextIndex.build(paragraphs);
const { ordinals } = await words.search(question, { k: 3 });
// The best one last, next to the question.
const facts = Array.from(ordinals.toReversed(), (row) => paragraphs[row]).join('\n\n');

// Any GGUF model with a chat template. Contents of messages are plain text: they cannot spell a control token.
const model = await LanguageModel.load(process.argv[2]);
const content = `Context:\n${facts}\n\nQuestion: ${question}\nAnswer with a sentence of the context:`;
const messages = [{ role: 'user', content }];
const reply = model.generate({ messages, maxTokens: 120, sampling: { temperature: 0 } });
for await (const piece of reply) process.stdout.write(piece.text);
const { finish, usage, timing } = await reply.result;
console.log(`\n(${finish}: ${usage.completion} tokens, the first after ${timing.firstMs.toFixed()} ms)`);
await model.close();
