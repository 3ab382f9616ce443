// Detection of voice: borders against the times that the generator knows, noise and music alone, windows against onnxruntime, the
// same events however audio is cut, processor time of 50 streams, and sherpa-onnx on the same scenes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../harness/cache.mjs';
import { VoiceDetector } from '../lorekeep.mjs';
import { Random } from '../reliability/random.mjs';
import { compareBorders, tolerance, total } from './borders.mjs';
import { backgrounds, scene, soundAlone } from './scenes.mjs';

export const shippedModel = join(root, 'data', 'models', 'ggml-silero-v6.2.0.bin');
const onnxModel = join(root, 'native', 'vendor', 'silero-vad', 'silero_vad_v6.onnx');

/** Everything that a stream says of a scene, given in pieces of `piece` samples or of random lengths. */
export async function listen(detector, { samples, rate, channels }, { piece, random, ...settings } = {}) {
  const stream = detector.stream({ rate, channels, ...settings });
  const results = [];
  try {
    for (let at = 0; at < samples.length; ) {
      const frames = piece ?? (random ? 1 + random.below(rate) : rate / 10);
      const end = Math.min(samples.length, at + Math.round(frames) * channels);
      results.push(await stream.push(samples.subarray(at, end)));
      at = end;
    }
    results.push(await stream.finish());
  } finally {
    await stream.close();
  }
  return {
    events: results.flatMap(({ events }) => events),
    probabilities: Float32Array.from(results.flatMap(({ probabilities }) => [...probabilities])),
    samples: joined(results.map((result) => result.samples)),
  };
}

function joined(parts) {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const segmentsOf = (events) => events.filter(({ kind }) => kind === 'ended');

/** @returns {tables, leftOut, failed} */
export async function measureVoice({ scenes: count, backgrounds: wanted, python }) {
  const detector = await VoiceDetector.load(shippedModel);
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-speech-'));
  const peers = new Peers(python, folder);
  try {
    const rows = [];
    const agreement = { windows: 0, same: 0, borders: 0, near: 0 };
    for (const background of wanted === '' ? backgrounds : wanted.split(',')) {
      const found = await inBackground(detector, background, count, peers, agreement);
      for (const row of found) console.log(JSON.stringify(row));
      rows.push(...found);
    }
    return {
      tables: [bordersTable(rows), agreementTable(agreement), costTable(await cost(detector, peers))],
      leftOut: peers.leftOut,
      detail: { rows, agreement },
    };
  } finally {
    await detector.close();
    rmSync(folder, { recursive: true });
  }
}

async function inBackground(detector, background, count, peers, agreement) {
  const ours = [];
  const theirs = [];
  let [cutDiffers, heard] = [0, 0];
  for (let n = 0; n < count; n++) {
    const made = scene('report', n, { background, decibels: 10 });
    const { events, probabilities, samples } = await listen(detector, made);
    heard += made.seconds;
    const segments = segmentsOf(events);
    ours.push(compareBorders(made.truth, segments));
    const cut = await listen(detector, made, { random: new Random(n + 1) });
    if (JSON.stringify(cut.events) !== JSON.stringify(events)) cutDiffers++;
    const reply = await peers.hear(samples);
    if (reply.segments) theirs.push(compareBorders(made.truth, reply.segments));
    if (reply.probabilities) agree(probabilities, reply.probabilities, agreement);
  }
  let [alone, aloneSeconds] = [0, 0];
  for (let n = 0; n < count && background !== 'babble'; n++) {
    const made = soundAlone('report', n, { background });
    alone += segmentsOf((await listen(detector, made)).events).length;
    aloneSeconds += made.seconds;
  }
  const row = (name, results) => {
    const sum = total(results);
    return {
      name,
      background,
      met: (100 * sum.met) / sum.borders,
      missed: sum.missed,
      extra: sum.extra,
      begin: median(sum.begin),
      end: median(sum.end),
      utterances: sum.borders / 2,
    };
  };
  const own = {
    ...row('lorekeep', ours),
    alone: background === 'babble' ? undefined : alone,
    aloneSeconds,
    cutDiffers,
    heard,
  };
  return theirs.length > 0 ? [own, row('sherpa-onnx', theirs)] : [own];
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The peers in Python, each until it fails the first time. */
class Peers {
  leftOut = [];
  #python;
  #folder;

  constructor(python, folder) {
    this.#python = python;
    this.#folder = folder;
    if (!python)
      for (const name of ['onnxruntime', 'sherpa-onnx'])
        this.leftOut.push({ name, reason: 'not installed: `npm run setup:speech` in bench/ installs it' });
  }

  async hear(samples) {
    const file = join(this.#folder, 'heard.f32');
    writeFileSync(file, samples);
    const { probabilities } = (await this.#call('onnxruntime', 'onnx', { file, model: onnxModel })) ?? {};
    const settings = { threshold: 0.5, min_silence: 0.4, min_speech: 0.25 };
    const found = await this.#call('sherpa-onnx', 'sherpa', { file, model: onnxModel, ...settings });
    const segments = found?.segments.map(([begin, end]) => ({ beginMs: 1000 * begin, endMs: 1000 * end }));
    return { probabilities, segments, cpu: found?.cpu };
  }

  async #call(name, call, request) {
    if (this.leftOut.some((peer) => peer.name === name)) return undefined;
    try {
      return await this.#python.call(call, request);
    } catch (error) {
      this.leftOut.push({ name, reason: error.message.split('\n')[0] });
      return undefined;
    }
  }
}

/** Counts the windows on the same side of the threshold, and the crossings of it that are one window apart at most. */
function agree(probabilities, theirs, agreement) {
  for (let i = 0; i < Math.min(probabilities.length, theirs.length); i++) {
    agreement.windows++;
    if (probabilities[i] >= 0.5 === theirs[i] >= 0.5) agreement.same++;
  }
  const own = crossings(probabilities);
  const other = crossings(theirs);
  agreement.borders += Math.max(own.length, other.length);
  agreement.near += own.filter((at) => other.some((each) => Math.abs(each - at) <= 1)).length;
}

/** The windows at which the probability crosses the threshold. */
function crossings(probabilities) {
  const found = [];
  for (let i = 1; i < probabilities.length; i++)
    if (probabilities[i] >= 0.5 !== probabilities[i - 1] >= 0.5) found.push(i);
  return found;
}

const streams = 50;

/** Processor time of 50 streams that get 20 ms each in turn, and of one; sherpa-onnx hears the same. */
async function cost(detector, peers) {
  const made = scene('report', 0, { background: 'pink' });
  const spent = async (count) => {
    const all = Array.from({ length: count }, () =>
      detector.stream({ rate: made.rate, channels: made.channels }),
    );
    const piece = (made.rate / 50) * made.channels;
    const before = process.cpuUsage();
    for (let at = 0; at < made.samples.length; at += piece)
      await Promise.all(all.map((stream) => stream.push(made.samples.subarray(at, at + piece))));
    await Promise.all(all.map((stream) => stream.finish()));
    const { user, system } = process.cpuUsage(before);
    await Promise.all(all.map((stream) => stream.close()));
    return (user + system) / 1e6 / count / made.seconds;
  };
  await spent(1);
  const rows = [
    { name: 'lorekeep, 1 stream', share: 100 * (await spent(1)) },
    { name: `lorekeep, ${streams} streams`, share: 100 * (await spent(streams)) },
  ];
  const { samples } = await listen(detector, made);
  await peers.hear(samples);
  const { cpu } = await peers.hear(samples);
  if (cpu !== undefined) rows.push({ name: 'sherpa-onnx, 1 stream', share: (100 * cpu) / made.seconds });
  return rows;
}

function bordersTable(rows) {
  return {
    id: 'speech-borders',
    title: `Segments at 10 dB, utterances of espeak-ng: borders within ${tolerance} ms`,
    columns: [
      { key: 'background', label: 'background' },
      { key: 'name', label: '' },
      { key: 'utterances', label: 'utterances', digits: 0 },
      { key: 'met', label: 'borders met %', digits: 1 },
      { key: 'missed', label: 'missed', digits: 0 },
      { key: 'extra', label: 'segments too many', digits: 0 },
      { key: 'begin', label: 'begin, ms', digits: 0 },
      { key: 'end', label: 'end, ms', digits: 0 },
      { key: 'alone', label: 'segments without speech', digits: 0 },
      { key: 'cutDiffers', label: 'other events in other pieces', digits: 0 },
    ],
    rows,
  };
}

function agreementTable({ windows, same, borders, near }) {
  return {
    id: 'speech-agreement',
    title: 'Probabilities beside those of onnxruntime, on the same samples',
    columns: [
      { key: 'name', label: '' },
      { key: 'count', label: 'number', digits: 0 },
      { key: 'share', label: '% equal', digits: 2 },
    ],
    rows:
      windows === 0
        ? []
        : [
            {
              name: 'windows on the same side of the threshold',
              count: windows,
              share: (100 * same) / windows,
            },
            {
              name: 'crossings of the threshold within one window',
              count: borders,
              share: (100 * near) / borders,
            },
          ],
  };
}

function costTable(rows) {
  return {
    id: 'speech-voice-cost',
    title: 'Processor time of detection, in % of a core per stream',
    columns: [
      { key: 'name', label: '' },
      { key: 'share', label: '% of a core', digits: 2 },
    ],
    rows,
  };
}
