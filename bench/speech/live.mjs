// Speaking with an agent on a server, by the clock: audio is sent as a microphone gives it, in pieces of 20 ms, and times count from the
// moment at which a microphone would have recorded the end, or the beginning, of speech. What is said is stated here.
import { median, quantile } from '../harness/numbers.mjs';
import { connect } from '../lorekeep.mjs';
import { int16, joined, missingModel, rate, speak, speechServer, storyteller } from './served.mjs';
import { spoken } from './voices.mjs';

const voices = ['en-us', 'en-us+f2', 'en-gb', 'en-us+m3'];

const utterances = [
  'Where is the key of the lamp room?',
  'Who keeps the lighthouse in winter?',
  'Open the door, please.',
  'How deep is the harbour?',
  'Tell me about the storm of last year.',
  'Yes.',
  'When does the ferry leave?',
  'I would like to know more about the people who lived here.',
];

/** What is said in two breaths: a thinking pause stands at each |. */
const unfinished = [
  'Could you tell me, um, | where the harbour is?',
  'I would like to | open the window.',
  'Please give me the | red book.',
  'I am looking for my | old umbrella.',
  'Where did you put the | keys of the boat?',
  'I want to go to | the market.',
  'We need bread and | some butter.',
  'Do you know if | the ferry is late?',
  'The name of the captain is, uh, | Peter.',
  'Show me a house with | four windows.',
  'I came here because | it was raining.',
  'He said that | you have a map.',
];

/** What is said in one breath. */
const finished = [...utterances, 'The window is open.', 'Turn on the light.', 'Stop!', 'Good morning.'];

const defaults = { minSilenceMs: 400, minSpeechMs: 250, windowMs: 32 };
const thinkingPause = 0.9;
/** Silence after an utterance. Longer than the wait for the rest of a sentence (2 s), and for a slow recognition. */
const afterwards = 4;
const bargeAllowance = 100;
const replyTokens = 600;

const clip = (text, i) => spoken({ voice: voices[i % voices.length], text }, rate).samples;

/** Adds the tables speech-live, speech-barge-in and speech-sentences. */
export async function measureLive({ rounds }) {
  const reason = await missingModel();
  if (reason) return { leftOut: [{ name: 'speaking with an agent', reason }] };
  const server = await speechServer();
  const client = await connect({ port: server.port });
  try {
    const session = await client.createSession();
    const tables = [
      await latencyTable(session, Math.ceil(rounds / 2)),
      await bargeTable(session, rounds),
      await sentenceTable(session),
    ];
    return { tables: tables.map(({ table }) => table), detail: tables.map(({ detail }) => detail) };
  } finally {
    await client.close();
    await server.stop();
  }
}

/** The cheapest turn: no node computes anything. */
const listener = {
  graph: { nodes: [{ id: 'guard', type: 'regex_guardrail', params: {} }] },
  enable_diagnostics: true,
};

async function latencyTable(session, rounds) {
  const agent = await session.createAgent(listener);
  const rows = [];
  const detail = [];
  for (const [label, options] of Object.entries({
    'final text': {},
    'partial text, too': { partial: true },
  })) {
    const delays = [];
    for (let round = 0; round < rounds; round++)
      for (const [i, text] of utterances.entries()) {
        const { events, at } = await say(session, agent, [clip(text, i + round)], options);
        const [turn] = events.filter(({ type }) => type === 'TurnStarted');
        const [complete] = events.filter(({ type }) => type === 'TurnComplete');
        if (turn === undefined) continue;
        delays.push({ text: turn.text, total: turn.at - at(0).end, ...complete?.diagnostics?.speech });
      }
    detail.push({ label, delays });
    const of = (get) => delays.map(get);
    const fixed = defaults.minSilenceMs + defaults.windowMs;
    const rest = of(({ total, recognitionMs }) => total - fixed - recognitionMs);
    rows.push({
      label,
      turns: delays.length,
      said: rounds * utterances.length,
      total: median(of(({ total }) => total)),
      p95: quantile(
        of(({ total }) => total),
        0.95,
      ),
      silence: median(of(({ silenceMs }) => silenceMs)),
      recognition: median(of(({ recognitionMs }) => recognitionMs)),
      rest: median(rest),
      restP95: quantile(rest, 0.95),
    });
  }
  const columns = [
    { key: 'label', label: 'the client asks for' },
    { key: 'said', label: 'utterances', digits: 0 },
    { key: 'turns', label: 'with a turn', digits: 0 },
    { key: 'total', label: 'end of speech to TurnStarted, ms', digits: 0 },
    { key: 'p95', label: 'p95, ms', digits: 0 },
    { key: 'silence', label: 'of it silence, ms', digits: 0 },
    { key: 'recognition', label: 'recognition, ms', digits: 0 },
    { key: 'rest', label: 'total - 400 ms - a window - recognition, ms', digits: 0 },
    { key: 'restP95', label: 'p95, ms', digits: 0 },
  ];
  const title = 'From the end of speech to the turn';
  return { table: { id: 'speech-live', title, columns, rows }, detail };
}

async function bargeTable(session, rounds) {
  const delays = [];
  for (let i = 0; i < 2 * rounds; i++) {
    const agent = await session.createAgent(storyteller(replyTokens));
    const clips = [
      clip('Tell me a long story about the sea.', i),
      clip(utterances[i % utterances.length], i + 1),
    ];
    const found = await interrupted(session, agent, clips);
    delays.push(found);
    await agent.destroy();
  }
  const met = delays.filter(({ cancelled }) => cancelled !== undefined);
  const limit = defaults.minSpeechMs + bargeAllowance;
  const row = {
    replies: delays.length,
    cut: met.length,
    started: median(met.map(({ started }) => started)),
    cancelled: median(met.map(({ cancelled }) => cancelled)),
    longest: Math.max(...met.map(({ cancelled }) => cancelled)),
    within: met.filter(({ cancelled }) => cancelled <= limit).length,
  };
  const columns = [
    { key: 'replies', label: 'replies', digits: 0 },
    { key: 'cut', label: 'cut short', digits: 0 },
    { key: 'started', label: 'begin of speech to SpeechStarted, ms', digits: 0 },
    { key: 'cancelled', label: 'to the end of the turn, ms', digits: 0 },
    { key: 'longest', label: 'longest, ms', digits: 0 },
    { key: 'within', label: `within min_speech_ms + ${bargeAllowance} ms`, digits: 0 },
  ];
  const title = 'Speaking during a reply of SmolLM2';
  return { table: { id: 'speech-barge-in', title, columns, rows: [row] }, detail: delays };
}

/** Speaks, waits until the reply flows, and speaks again. */
async function interrupted(session, agent, [ask, cut]) {
  const speech = await session.openSpeech({ rate, agent_id: agent.id });
  const seen = {};
  let pieces = 0;
  let second = 0;
  const listening = (async () => {
    for await (const event of speech) {
      const at = performance.now();
      if (event.type === 'TurnText') pieces++;
      if (second === 0) continue;
      if (event.type === 'SpeechStarted') seen.started ??= at - second;
      if (event.type === 'TurnComplete' && event.status === 'cancelled') seen.cancelled ??= at - second;
      if (event.type === 'TurnText') seen.late = at - second;
    }
  })();
  const silence = () => new Int16Array(rate / 10);
  await speak(speech, int16(joined([ask], [0.5, 0]).samples));
  const patience = performance.now() + 20_000;
  while (pieces < 10 && performance.now() < patience) await speak(speech, silence());
  const lead = 0.3;
  second = performance.now() + 1000 * lead;
  await speak(speech, int16(joined([cut], [lead, 0]).samples), { begun: second - 1000 * lead });
  while (seen.cancelled === undefined && performance.now() < second + 5000) await speak(speech, silence());
  await speech.close();
  // The turn that the last text started.
  await Promise.race([listening, new Promise((done) => setTimeout(done, 3000))]);
  return seen;
}

async function sentenceTable(session) {
  const agent = await session.createAgent(listener);
  const rows = [];
  const detail = [];
  for (const end_of_turn of ['silence', 'sentence']) {
    const options = { end_of_turn };
    let early = 0;
    for (const [i, text] of unfinished.entries()) {
      const clips = text.split('|').map((part) => clip(part.trim(), i));
      const { events } = await say(session, agent, clips, options, thinkingPause);
      const turns = events.filter(({ type }) => type === 'TurnStarted').map((turn) => turn.text);
      const wholes = turns.length === 1 ? 0 : 1;
      early += wholes;
      detail.push({ end_of_turn, text, turns });
    }
    let late = 0;
    const delays = [];
    for (const [i, text] of finished.entries()) {
      const { events, at } = await say(session, agent, [clip(text, i)], options);
      const turn = events.find(({ type }) => type === 'TurnStarted');
      const complete = events.find(({ type }) => type === 'TurnComplete');
      const wait = complete?.diagnostics?.speech?.waitMs ?? 0;
      if (wait > 100) late++;
      if (turn) delays.push(turn.at - at(0).end);
      detail.push({ end_of_turn, text, turn: turn?.text, wait });
    }
    rows.push({
      end_of_turn,
      unfinished: unfinished.length,
      early,
      finished: finished.length,
      late,
      delay: median(delays),
    });
  }
  const columns = [
    { key: 'end_of_turn', label: 'end_of_turn' },
    { key: 'unfinished', label: `sentences with a pause of ${thinkingPause} s in them`, digits: 0 },
    { key: 'early', label: 'ended in the pause', digits: 0 },
    { key: 'finished', label: 'sentences without one', digits: 0 },
    { key: 'late', label: 'that waited for more', digits: 0 },
    { key: 'delay', label: 'end of speech to TurnStarted, ms', digits: 0 },
  ];
  const title = 'Thinking pauses';
  return { table: { id: 'speech-sentences', title, columns, rows }, detail };
}

/** @returns {events, at}: events with the time they came at; at(i) has the times at which clip i began and ended */
async function say(session, agent, clips, options, pause = 0) {
  const speech = await session.openSpeech({ rate, agent_id: agent.id, ...options });
  const events = [];
  const listening = (async () => {
    for await (const event of speech) events.push({ ...event, at: performance.now() });
  })();
  const pauses = [0.5, ...clips.slice(1).map(() => pause), afterwards];
  const { samples, places } = joined(clips, pauses);
  const isDone = () => clips.length === 1 && events.some(({ type }) => type === 'TurnComplete');
  const begun = await speak(speech, int16(samples), { until: isDone });
  await speech.finish();
  await listening;
  const at = (i) => ({ begin: begun + places[i].beginMs, end: begun + places[i].endMs });
  return { events, at };
}
