// The speed that is left beside a neighbour: a spinning process that takes one core.
import { spawn } from 'node:child_process';
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { oneStream } from '../measurements.mjs';
import { languageModel } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { Turns } from '../turns.mjs';

const modelName = 'SmolLM2-135M Q8_0';

/** Adds the table "generation-neighbour". */
export async function neighbour(options, result) {
  const model = await languageModel(modelName);
  if (model.reason) {
    result.leftOut.push({ name: `${modelName} beside a neighbour`, reason: model.reason });
    return;
  }
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, context: 4096, perStream: 1024 }),
  );
  const turns = new Turns(contestants);
  await new Turns(contestants).each('warm', oneStream(model, { prompt: 64, reply: 4 }, 1));
  for (let round = 0; round < options.rounds && !(round > 0 && options.late()); round++) {
    await turns.each('quiet', oneStream(model, options, 30_000 + 2 * round));
    const spinning = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    try {
      await turns.each('beside', oneStream(model, options, 30_001 + 2 * round));
    } finally {
      spinning.kill();
    }
  }
  contestants.end();
  addAbsent(result, contestants);
  result.tables.push(table(turns));
}

function table(turns) {
  const of = (key) => (speeds) => speeds[key];
  const share = (name, key) => {
    const [quiet, beside] = ['quiet', 'beside'].map((id) => turns.median(name, id, of(key)));
    return beside / quiet;
  };
  const rows = turns.names.map((name) => ({
    name,
    prefill: turns.median(name, 'beside', of('prefill')),
    prefillShare: share(name, 'prefill'),
    prefillRatio: turns.ratio(own, name, 'beside', of('prefill')),
    decode: turns.median(name, 'beside', of('decode')),
    decodeShare: share(name, 'decode'),
    decodeRatio: turns.ratio(own, name, 'beside', of('decode')),
  }));
  return {
    id: 'generation-neighbour',
    title: `${modelName} beside a process that takes one core`,
    columns: [
      { key: 'name', label: 'program' },
      { key: 'prefill', label: 'prefill tokens/s' },
      { key: 'prefillShare', label: 'of the quiet speed', digits: 2 },
      { key: 'prefillRatio', label: 'lorekeep / this', digits: 2 },
      { key: 'decode', label: 'decode tokens/s' },
      { key: 'decodeShare', label: 'of the quiet speed', digits: 2 },
      { key: 'decodeRatio', label: 'lorekeep / this', digits: 2 },
    ],
    rows,
  };
}
