// Time of recognition, beside whisper.cpp's own program and faster-whisper: each in turn, round by round, on two threads. Times are of
// one clip without loading the model; the program's own are those that it prints, and its processor time is that of its process
// without loading.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpeechRecogniser } from '../lorekeep.mjs';
import { readWav } from './audio.mjs';
import { fasterWhisperModel, clips as recordings } from './peers.mjs';
import { weights } from './texts.mjs';
import { spoken } from './voices.mjs';
import { byProgram, haveWhisperProgram, padded } from './whisper-program.mjs';

const threads = 2;
const rate = 16_000;
/** Clips that the program gets at once, so that starting it weighs little. */
const repeats = 3;

function speedClips() {
  const say = (text) => spoken({ voice: 'en-us', text }, rate).samples;
  const made = {
    '2 s': say('turn off the lamp in the bedroom'),
    '5 s': say(
      'i would like to know more about the storm of last winter and about the people who lived here',
    ),
  };
  if (existsSync(recordings.jfk)) made['11 s (jfk.wav)'] = readWav(readFileSync(recordings.jfk)).samples;
  return Object.entries(made).map(([name, samples]) => ({ name, samples, seconds: samples.length / rate }));
}

export async function measureSpeed({ rounds, python }) {
  if (!existsSync(weights.Q8_0))
    return { leftOut: [{ name: 'speed of recognition', reason: `no ${weights.Q8_0}` }] };
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-speech-'));
  const model = await SpeechRecogniser.load(weights.Q8_0, { threads });
  const engines = { 'lorekeep Q8_0': (samples) => byLorekeep(model, samples), ...peersOf(python, folder) };
  try {
    const rows = [];
    for (const { name, samples, seconds } of speedClips()) {
      const times = Object.fromEntries(Object.keys(engines).map((engine) => [engine, []]));
      for (let round = 0; round <= rounds; round++)
        for (const [engine, recognise] of Object.entries(engines)) {
          const time = await recognise(samples);
          // The first round warms up.
          if (round > 0) times[engine].push(time);
        }
      for (const [engine, list] of Object.entries(times))
        rows.push(rowOf(name, engine, list, seconds, times));
    }
    return { tables: [table(rows)], leftOut: [] };
  } finally {
    await model.close();
    rmSync(folder, { recursive: true });
  }
}

function peersOf(python, folder) {
  if (!python) return {};
  const peers = {};
  if (haveWhisperProgram()) peers['whisper.cpp Q8_0'] = (samples) => byWhisper(python, folder, samples);
  if (existsSync(fasterWhisperModel))
    for (const type of ['int8', 'float32'])
      peers[`faster-whisper ${type}`] = async (samples) => {
        const file = join(folder, 'clip.f32');
        writeFileSync(file, padded(samples));
        const request = { file, model: fasterWhisperModel, type, beams: 1, threads, language: 'en' };
        const { wall, cpu } = await python.call('faster-whisper', request);
        return { wall, cpu };
      };
  return peers;
}

async function byLorekeep(model, samples) {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await model.recognise(samples);
  const { user, system } = process.cpuUsage(before);
  return { wall: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 };
}

async function byWhisper(python, folder, samples) {
  const all = Array.from({ length: repeats }, () => samples);
  const { cpu, timings } = await byProgram(python, folder, all, {
    model: weights.Q8_0,
    threads,
    timed: true,
  });
  const { load, total } = timings;
  return { wall: (total - load) / repeats, cpu: (cpu - load) / repeats };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function rowOf(clip, name, list, seconds, times) {
  const wall = median(list.map((one) => one.wall));
  const cpu = median(list.map((one) => one.cpu));
  // Of the same round: what else the machine does meets both.
  const ratio = median(list.map((one, i) => one.wall / times['lorekeep Q8_0'][i].wall));
  const cpuRatio = median(list.map((one, i) => one.cpu / times['lorekeep Q8_0'][i].cpu));
  return { clip, name, wall: 1000 * wall, cpu: 1000 * cpu, factor: wall / seconds, ratio, cpuRatio };
}

function table(rows) {
  return {
    id: 'speech-speed',
    title: `tiny.en on ${threads} threads, one clip`,
    columns: [
      { key: 'clip', label: 'clip' },
      { key: 'name', label: '' },
      { key: 'wall', label: 'ms', digits: 0 },
      { key: 'cpu', label: 'CPU ms', digits: 0 },
      { key: 'factor', label: 'of real time', digits: 3 },
      { key: 'ratio', label: 'theirs / ours', digits: 2 },
      { key: 'cpuRatio', label: 'theirs / ours, CPU', digits: 2 },
    ],
    rows,
  };
}
