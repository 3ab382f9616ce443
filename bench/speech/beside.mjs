// The tokens of one client while another one's speech is recognised, on one server: the gap between two pieces of a reply, against what
// `step_target_ms: auto` promises. Scenes take turns, round by round. Client, server and their audio share the machine.
import { median, quantile } from '../harness/numbers.mjs';
import { connect } from '../lorekeep.mjs';
import { sentences } from './sentences.mjs';
import { int16, joined, missingModel, rate, speak, speechServer, storyteller } from './served.mjs';
import { spoken } from './voices.mjs';

/** Limit of a gap: a number of the reply's own steps plus some ms. */
const [maxSteps, maxMs] = [3, 50];
const runtimes = ['decoder', 'llama.cpp'];
const replyTokens = 400;
/** A reply's first gaps are of its prompt. */
const skipped = 4;

const scenes = {
  alone: undefined,
  'a microphone': { class: 'interactive_visible', partial: true },
  'two microphones': { class: 'interactive_visible', partial: true, streams: 2 },
  'a file': { class: 'background', file: true },
};

export async function measureBeside({ rounds, seconds }) {
  const reason = await missingModel();
  if (reason) return { leftOut: [{ name: 'replies beside speech', reason }] };
  const audio = longSpeech(Math.max(60, 2 * seconds));
  const rows = [];
  const detail = [];
  for (const runtime of runtimes) {
    const server = await speechServer({ runtime });
    const seen = Object.fromEntries(Object.keys(scenes).map((name) => [name, []]));
    try {
      await play(server, undefined, audio, 1000); // loads the model
      for (let round = 0; round < rounds; round++)
        for (const [name, scene] of Object.entries(scenes))
          seen[name].push(await play(server, scene, audio, 1000 * seconds));
    } finally {
      await server.stop();
    }
    for (const [name, played] of Object.entries(seen)) {
      rows.push(rowOf(runtime, name, played, seen.alone));
      detail.push({ runtime, name, played });
    }
  }
  return { tables: [table(rows)], detail };
}

/** Sentences with the pauses of someone who reads aloud. */
function longSpeech(seconds) {
  const clips = [];
  let length = 0;
  const say = sentences(5 * seconds);
  const known = say.length > 0 ? say : [{ voice: 'en-us', text: 'The ferry leaves when the storm is over.' }];
  for (let i = 0; length < seconds * rate; i++) {
    const clip = spoken(known[i % known.length], rate).samples;
    clips.push(clip);
    length += clip.length + 0.6 * rate;
  }
  return int16(joined(clips, [0.6, ...clips.map(() => 0.6)]).samples);
}

/** @returns {gaps, heardMs, texts, ms}: gaps of the reply in ms; audio that was heard meanwhile, and its final texts */
async function play(server, scene, audio, ms) {
  const client = await connect({ port: server.port });
  const speaker = scene && (await connect({ port: server.port }));
  try {
    const agent = await (await client.createSession()).createAgent(storyteller(replyTokens));
    const heard = [];
    const ending = { now: false };
    const sent = [];
    if (scene) {
      const session = await speaker.createSession();
      for (let i = 0; i < (scene.streams ?? 1); i++) {
        const { speech, delays, run } = await listen(session, scene, audio, ending);
        heard.push({ speech, delays });
        sent.push(run);
      }
    }
    const begun = performance.now();
    const gaps = [];
    while (performance.now() < begun + ms) gaps.push(...(await replyGaps(agent, begun + ms)));
    ending.now = true;
    const counts = heard.map(({ delays }) => ({ ...delays }));
    await Promise.all(heard.map(({ speech }) => speech.close()));
    await Promise.allSettled(sent);
    return { gaps, ms: performance.now() - begun, speech: counts };
  } finally {
    await client.close();
    await speaker?.close();
  }
}

async function listen(session, { file = false, partial = false, ...options }, audio, ending) {
  const speech = await session.openSpeech({ rate, partial, class: options.class });
  const delays = { heardMs: 0, final: 0, texts: [] };
  const endedAt = new Map();
  const events = (async () => {
    for await (const event of speech) {
      if (ending.now) continue;
      if (event.type === 'SpeechEnded') endedAt.set(event.segment, performance.now());
      if (event.type !== 'SpeechText' || !event.final) continue;
      delays.texts.push(performance.now() - endedAt.get(event.segment));
      delays.heardMs = event.endMs;
      delays.final++;
    }
  })().catch(() => {});
  const sending = file ? speech.write(audio) : speak(speech, audio, { until: () => ending.now });
  const run = Promise.all([events, sending.catch(() => {})]);
  return { speech, delays, run };
}

async function replyGaps(agent, until) {
  const at = [];
  for await (const event of agent.stream('Write a long story about a lighthouse keeper and the sea.')) {
    if (event.type === 'TurnText' && event.kind === 'reply') at.push(performance.now());
    if (performance.now() > until) break;
  }
  return at.slice(skipped).flatMap((time, i, all) => (i === 0 ? [] : [time - all[i - 1]]));
}

function rowOf(runtime, name, played, alone) {
  const steps = alone.map(({ gaps }) => median(gaps));
  const inSteps = played.flatMap(({ gaps }, i) => gaps.map((gap) => gap / steps[i]));
  const gaps = played.flatMap((one) => one.gaps);
  const limits = played.flatMap(({ gaps: list }, i) =>
    list.map((gap) => gap / (maxSteps * steps[i] + maxMs)),
  );
  const heard = played.flatMap(({ speech, ms }) => speech.map(({ heardMs }) => heardMs / ms));
  return {
    runtime,
    name,
    step: median(gaps),
    median: median(inSteps),
    p99: quantile(inSteps, 0.99),
    longest: Math.max(...inSteps),
    ms: Math.max(...gaps),
    limit: Math.max(...limits),
    over: (100 * limits.filter((one) => one > 1).length) / limits.length,
    text: median(played.flatMap(({ speech }) => speech.flatMap(({ texts }) => texts))),
    heard: median(heard),
  };
}

function table(rows) {
  return {
    id: 'speech-beside',
    title: 'Gaps between the tokens of a reply, beside speech that is recognised for another client',
    columns: [
      { key: 'runtime', label: 'runtime' },
      { key: 'name', label: 'beside' },
      { key: 'step', label: 'median gap, ms' },
      { key: 'median', label: 'median, steps alone', digits: 2 },
      { key: 'p99', label: 'p99, steps', digits: 1 },
      { key: 'longest', label: 'longest, steps', digits: 1 },
      { key: 'ms', label: 'longest, ms', digits: 0 },
      { key: 'limit', label: `longest, of ${maxSteps} steps + ${maxMs} ms`, digits: 2 },
      { key: 'over', label: 'gaps above it, %', digits: 2 },
      { key: 'text', label: 'text after end of segment, ms', digits: 0 },
      { key: 'heard', label: 'speech a second, s', digits: 2 },
    ],
    rows,
  };
}
