// argv: folder. A reader in a process of its own, told by messages: {allowed: answers by config, refusals: error codes by config} opens
// and searches both knowledge bases in a loop until {stop: true}, which it answers with {opens, problems}.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddingModel, LorekeepError, openKnowledgeBase } from '../../lorekeep.mjs';
import { answersOf } from '../sample.mjs';

const [folder] = process.argv.slice(2);
const model = await EmbeddingModel.load(join(folder, 'tiny.gguf'), { threads: 1 });
const models = async () => ({ model });
const { questions } = JSON.parse(readFileSync(join(folder, 'questions.json'), 'utf8'));
let reading;

process.on('disconnect', () => process.exit());
process.on('message', async (message) => {
  if (message.stop) {
    reading.stopped = true;
    await reading.done;
    process.send({ opens: reading.opens, problems: reading.problems });
  } else {
    reading = { ...message, opens: 0, problems: [], stopped: false };
    reading.done = read(reading);
  }
});
process.send('ready');

async function read(task) {
  while (!task.stopped) {
    for (const config of Object.keys(task.allowed)) await readOnce(task, config);
  }
}

async function readOnce(task, config) {
  try {
    const opened = await openKnowledgeBase(join(folder, config), { models });
    const answers = await answersOf(opened, questions);
    await opened.close();
    task.opens++;
    if (!task.allowed[config].includes(answers)) task.problems.push(`${config}: a reader got another answer`);
  } catch (error) {
    const expected = error instanceof LorekeepError && task.refusals[config]?.includes(error.code);
    if (!expected) task.problems.push(`${config}: a reader got ${error.code}: ${error.message}`);
  }
}
