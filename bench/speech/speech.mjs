// Speech: detection of voice and recognition, beside onnxruntime, sherpa-onnx, whisper.cpp's own program and faster-whisper.
//
//   node bench/speech/speech.mjs [--parts voice,text,short,speed,partial,joined,times] [--scenes 12] [--backgrounds pink,music]
//     [--words 2000] [--weights F16,Q8_0] [--beams 1,5] [--clips 60] [--partials 100] [--streams 1,2] [--timed 60]
//     [--rounds 5]
//
// Needs espeak-ng and sox, and for recognition ggml-tiny.en-q8_0.bin in the folder that LOREKEEP_REAL_MODELS names. `npm run
// setup:speech` in bench/ installs the peers; those that are not there are left out.
//
// Utterances are spoken by espeak-ng, with seeds that are stated in the code; the settings were chosen on other voices, sentences and
// seeds (`tune` in scenes.mjs) than those that are reported. Caveats: synthesised voices are clearer than people's, and music is
// synthesised as well.
import { runTrial } from '../harness/trial.mjs';
import { measureJoined } from './joined.mjs';
import { measurePartial } from './partial.mjs';
import { PythonPeer } from './python-peer.mjs';
import { measureSpeed } from './speed.mjs';
import { measureShort, measureTexts } from './texts.mjs';
import { measureVoice } from './vad.mjs';
import { haveVoices } from './voices.mjs';
import { measureTimes } from './word-times.mjs';

const parts = {
  voice: measureVoice,
  text: measureTexts,
  short: measureShort,
  speed: measureSpeed,
  partial: measurePartial,
  joined: measureJoined,
  times: measureTimes,
};
const defaults = {
  parts: Object.keys(parts).join(','),
  scenes: 12,
  backgrounds: '',
  words: 2000,
  weights: 'F16,Q8_0',
  beams: '1,5',
  clips: 60,
  partials: 100,
  streams: '1,2',
  timed: 60,
  rounds: 5,
};

await runTrial('speech', defaults, async ({ parts: wanted, ...options }) => {
  if (!haveVoices()) return { leftOut: [{ name: 'speech', reason: 'espeak-ng and sox are not installed' }] };
  const python = PythonPeer.start();
  const result = {
    tables: [],
    leftOut: [],
    failed: [],
    detail: {},
    data: 'utterances of espeak-ng, and jfk.wav of whisper.cpp',
  };
  try {
    for (const name of wanted.split(',')) {
      const { detail, ...rest } = await parts[name]({ ...options, python });
      result.detail[name] = detail;
      for (const [key, list] of Object.entries(rest)) result[key].push(...list);
    }
  } finally {
    await python?.end();
  }
  result.leftOut = [...new Map(result.leftOut.map((one) => [one.name, one])).values()];
  return result;
});
