// Both held to AVX2, whatever the processor has: lorekeep by LOREKEEP_KERNELS, llama-server by a build of its own.
import { findBuilt } from '../../embedding/llama-server.mjs';
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { oneStream } from '../measurements.mjs';
import { languageModel } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { Turns } from '../turns.mjs';

/** Adds the table "generation-avx2". */
export async function avx2(options, result) {
  const server = findBuilt('avx2');
  if (!server) {
    const reason = '`npm run setup:llama-server` in bench/ builds it, on x64';
    result.leftOut.push({ name: 'llama-server held to AVX2', reason });
    return;
  }
  const rows = [];
  for (const name of options.models.split(',').filter((one) => one.startsWith('SmolLM2'))) {
    const model = await languageModel(name);
    if (model.reason) continue; // the first part has named it
    const settings = { ...options, server, context: 4096, peers: 'llama-server' };
    const contestants = await Contestants.start(
      contestantsOf(model, { ...settings, env: { LOREKEEP_KERNELS: 'avx2' } }),
    );
    const turns = new Turns(contestants);
    await new Turns(contestants).each('warm', oneStream(model, { prompt: 64, reply: 4 }, 1));
    for (let round = 0; round < options.rounds && !(round > 0 && options.late()); round++)
      await turns.each('one', oneStream(model, options, 40_000 + round));
    contestants.end();
    addAbsent(result, contestants);
    rows.push(rowOf(name, turns));
  }
  result.tables.push(table(rows));
}

const peer = 'llama-server';

function rowOf(model, turns) {
  const of = (key) => (speeds) => speeds[key];
  return {
    model,
    ownPrefill: turns.median(own, 'one', of('prefill')),
    prefill: turns.median(peer, 'one', of('prefill')),
    prefillRatio: turns.ratio(own, peer, 'one', of('prefill')),
    ownDecode: turns.median(own, 'one', of('decode')),
    decode: turns.median(peer, 'one', of('decode')),
    decodeRatio: turns.ratio(own, peer, 'one', of('decode')),
  };
}

function table(rows) {
  return {
    id: 'generation-avx2',
    title: 'Both held to AVX2, tokens per second',
    columns: [
      { key: 'model', label: 'model' },
      { key: 'ownPrefill', label: 'prefill, lorekeep' },
      { key: 'prefill', label: `prefill, ${peer}` },
      { key: 'prefillRatio', label: 'ratio', digits: 2 },
      { key: 'ownDecode', label: 'decode, lorekeep' },
      { key: 'decode', label: `decode, ${peer}` },
      { key: 'decodeRatio', label: 'ratio', digits: 2 },
    ],
    rows,
  };
}
