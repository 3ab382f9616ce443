// Three clients on one model: A streams, B brings a prompt of 4,000 tokens, C generates in the background. A's longest gap against the time
// to B's first token, for lorekeep's step targets and for llama-server's batch sizes; a frame loop beside a throttled generation; retrieval
// beside generation.
//
//   node bench/generation/fairness.mjs [--model SmolLM2-135M] [--prompt 4000] [--targets auto,40,80,160,320,0] [--batches 2048,256,64]
//     [--rounds 3] [--threads 2] [--frames 600] [--queries 300] [--server PROGRAM] [--peers llama-server]
//
// 0 is lorekeep without a step target. Contestants take turns, round by round, and medians over the rounds count. B's time is given as a
// multiple of the best time that any of them needs for B alone.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findServer } from '../embedding/llama-server.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { contestantsOf } from './contestants.mjs';
import { languageModel, promptTokens } from './models.mjs';
import { firstTokenMs, gaps } from './timeline.mjs';

const defaults = {
  model: 'SmolLM2-135M',
  prompt: 4000,
  targets: 'auto,40,80,160,320,0',
  batches: '2048,256,64',
  rounds: 3,
  threads: 2,
  frames: 600,
  queries: 300,
  server: findServer() ?? '',
  peers: 'llama-server',
};
const context = 8192;
/** B arrives when A has this many tokens; A and C end when B has this many. */
const [lead, follow] = [16, 8];
const longReply = 1500;
const embedder = fileURLToPath(new URL('../../data/models/lorekeep-mini.gguf', import.meta.url));
const levels = [0, 0.25, 0.5, 0.75, 1];

await runTrial('fairness', defaults, async (options) => {
  const model = await languageModel(options.model);
  if (model === undefined) throw new Error(`${options.model} is not in LOREKEEP_MODELS`);
  const settings = [
    ...options.targets.split(',').map((target) => ({ name: 'lorekeep', label: `target ${target}`, target })),
    ...(options.server && options.peers.includes('llama-server')
      ? options.batches.split(',').map((batch) => ({ name: 'llama-server', label: `-b ${batch}`, batch }))
      : []),
  ];
  const leftOut = options.server
    ? []
    : [{ name: 'llama-server', reason: '`npm run setup:llama-server` in bench/ builds it' }];
  const seen = await playScenes(model, settings, options);
  const rows = rowsOf(settings, seen);
  const throttle = await throttled(model, options);
  const retrieval = await besideRetrieval(model, options);
  const data = `${options.model}, ${options.threads} threads; B brings ${options.prompt} random tokens; ${options.rounds} rounds in turns`;
  return {
    data,
    leftOut,
    tables: tables(rows, throttle, retrieval),
    curves: [curve(rows)],
    detail: { seen, throttle, retrieval },
  };
});

/** @returns for each setting a list, by round, of {alone, mix}, scenes as play() tells them */
async function playScenes(model, settings, options) {
  const seen = settings.map(() => []);
  const groups = await Promise.all(
    settings.map(async ({ name, batch }) => {
      const only = contestantsOf(model, { ...options, context, batch }).filter((one) => one.name === name);
      return Contestants.start(only);
    }),
  );
  for (let round = 0; round < options.rounds; round++) {
    for (const [i, { name, label, target }] of settings.entries()) {
      const call = (method, argument) => groups[i].call(name, method, argument);
      if (target !== undefined)
        await call('configure', { stepTargetMs: target === 'auto' ? 'auto' : Number(target) });
      const scenes = scenesOf(model, options, 100 * round + i);
      seen[i].push({
        alone: await call('play', { requests: scenes.alone }),
        stream: await call('play', { requests: scenes.stream }),
        mix: await call('play', { requests: scenes.mix }),
      });
      console.log(`${name}, ${label}: round ${round + 1} of ${options.rounds}`);
    }
  }
  for (const group of groups) group.end();
  return seen;
}

/** Every scene has prompts of its own, so that no cache helps. */
function scenesOf(model, { prompt }, seed) {
  const tokens = (count, part) => promptTokens(model, count, 10 * seed + part);
  const small = 64;
  return {
    alone: [{ name: 'B', prompt: tokens(prompt, 1), maxTokens: 1 }],
    stream: [{ name: 'A', prompt: tokens(small, 2), maxTokens: 48 }],
    mix: [
      { name: 'A', prompt: tokens(small, 3), maxTokens: longReply, until: { name: 'B', tokens: follow } },
      { name: 'B', prompt: tokens(prompt, 4), maxTokens: follow, after: { name: 'A', tokens: lead } },
      {
        name: 'C',
        prompt: tokens(small, 5),
        maxTokens: longReply,
        class: 'background',
        until: { name: 'B', tokens: follow },
      },
    ],
  };
}

function rowsOf(settings, seen) {
  const complete = seen.map((rounds) => rounds.filter(({ alone, stream, mix }) => alone && stream && mix));
  const best = Math.min(...complete.flat().map(({ alone }) => firstTokenMs(alone.B)));
  return settings.flatMap(({ name, label }, i) => {
    const rounds = complete[i];
    if (rounds.length === 0) return [];
    const over = (get) => median(rounds.map(get));
    return {
      name,
      setting: label,
      step: over(({ stream }) => median(gaps(stream.A))),
      gap: over(({ mix }) => Math.max(...gapsWhile(mix))),
      p99: over(({ mix }) => quantile(gapsWhile(mix), 0.99)),
      first: over(({ mix }) => firstTokenMs(mix.B)),
      ratio: over(({ mix }) => firstTokenMs(mix.B)) / best,
      background: over(
        ({ mix }) => mix.C.tokenMs.filter((at) => at > mix.B.startMs && at < mix.B.tokenMs[0]).length,
      ),
    };
  });
}

/** A's gaps from B's arrival to B's first token. */
function gapsWhile({ A, B }) {
  const inside = A.tokenMs.filter((at) => at < B.tokenMs[0]);
  const before = inside.filter((at) => at < B.startMs).length;
  const tokenMs = [
    ...inside.slice(Math.max(0, before - 1)),
    ...A.tokenMs.filter((at) => at >= B.tokenMs[0]).slice(0, 1),
  ];
  return gaps({ tokenMs });
}

/** A loop of 60 frames a second with 8 ms of work on every core, beside a generation at each throttle level. */
async function throttled(model, { frames, threads, ...options }) {
  const rows = [];
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, threads, context, peers: '' }),
  );
  const call = (method, argument) => contestants.call('lorekeep', method, argument);
  await call('configure', {});
  const ms = (frames * 1000) / 60;
  rows.push({ level: 'no generation', missed: await frameLoops(threads, frames) });
  for (const level of levels) {
    const generating = call('generateFor', { ms, level, prompt: promptTokens(model, 64, 1) });
    const missed = await frameLoops(threads, frames);
    rows.push({ level, missed, ...(await generating) });
  }
  const share = await call('pauseProcessorTime', { prompt: promptTokens(model, 64, 2) });
  rows.at(-1).pauseCpu = share;
  contestants.end();
  return rows;
}

/** The share of frames that ended late. */
async function frameLoops(count, frames) {
  const program = fileURLToPath(new URL('frame-loop.mjs', import.meta.url));
  const missed = await Promise.all(
    Array.from({ length: count }, () => {
      const child = fork(program, [String(frames)]);
      return new Promise((resolve, reject) => {
        child.once('message', resolve);
        child.once('error', reject);
      });
    }),
  );
  return missed.reduce((sum, one) => sum + one, 0) / (count * frames);
}

async function besideRetrieval(model, { queries, ...options }) {
  const contestants = await Contestants.start(contestantsOf(model, { ...options, context, peers: '' }));
  const found = await contestants.call('lorekeep', 'retrieval', {
    queries,
    prompt: promptTokens(model, 64, 3),
    embedder,
  });
  contestants.end();
  return [
    { name: 'alone', median: median(found.alone), p99: quantile(found.alone, 0.99) },
    {
      name: 'beside a generation',
      median: median(found.beside),
      p99: quantile(found.beside, 0.99),
      step: found.step,
    },
  ];
}

function curve(rows) {
  return {
    chart: 'gap-first-token',
    panel: 'A streams, B brings a long prompt, C generates in the background',
    series: ['lorekeep', 'llama-server']
      .map((name) => ({
        name,
        points: rows.filter((row) => row.name === name).map(({ ratio, gap }) => ({ x: ratio, y: gap })),
      }))
      .filter(({ points }) => points.length > 0),
  };
}

function tables(rows, throttle, retrieval) {
  return [
    {
      id: 'generation-fairness',
      title: 'A streams, B brings a long prompt, C generates in the background',
      columns: [
        { key: 'name', label: 'program' },
        { key: 'setting', label: 'setting' },
        { key: 'step', label: "A's step alone ms" },
        { key: 'gap', label: "A's longest gap ms" },
        { key: 'p99', label: "A's p99 gap ms" },
        { key: 'first', label: "B's first token ms" },
        { key: 'ratio', label: 'of the best alone', digits: 2 },
        { key: 'background', label: "C's tokens meanwhile", digits: 0 },
      ],
      rows,
    },
    {
      id: 'generation-throttle',
      title: 'A loop of 60 frames a second with 8 ms of work on every core, by throttle level',
      columns: [
        { key: 'level', label: 'level' },
        { key: 'missed', label: 'share of frames missed', digits: 3 },
        { key: 'perSecond', label: 'tokens/s' },
        { key: 'pauseCpu', label: 'processor time in pauses, cores', digits: 3 },
      ],
      rows: throttle,
    },
    {
      id: 'generation-retrieval',
      title: 'A hybrid search with its query embedding, alone and beside a generation',
      columns: [
        { key: 'name', label: '' },
        { key: 'median', label: 'median ms' },
        { key: 'p99', label: 'p99 ms' },
        { key: 'step', label: 'longest step ms' },
      ],
      rows: retrieval,
    },
  ];
}
