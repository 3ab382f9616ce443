// Speech on a server: from the end of speech to the turn of an agent, speaking during a reply, thinking pauses, and the tokens of one client
// beside the speech of another.
//
//   node bench/speech/server.mjs [--parts live,beside] [--rounds 1] [--seconds 16]
//
// Needs espeak-ng and sox, ggml-tiny.en-q8_0.bin in the folder that LOREKEEP_REAL_MODELS names, and SmolLM2 in LOREKEEP_MODELS.
import { runTrial } from '../harness/trial.mjs';
import { measureBeside } from './beside.mjs';
import { measureLive } from './live.mjs';
import { haveVoices } from './voices.mjs';

const parts = { live: measureLive, beside: measureBeside };
const defaults = { parts: Object.keys(parts).join(','), rounds: 1, seconds: 16 };

await runTrial('speech-server', defaults, async ({ parts: wanted, ...options }) => {
  if (!haveVoices()) return { leftOut: [{ name: 'speech', reason: 'espeak-ng and sox are not installed' }] };
  const data = `tiny.en Q8_0 and SmolLM2-135M Q4_1, utterances of espeak-ng, rounds: ${options.rounds}`;
  const result = { tables: [], leftOut: [], detail: {}, data };
  for (const name of wanted.split(',')) {
    const { detail, tables = [], leftOut = [] } = await parts[name](options);
    result.detail[name] = detail;
    result.tables.push(...tables);
    result.leftOut.push(...leftOut);
  }
  return result;
});
