// A streams, B brings a long prompt, C generates in the background: A's longest gap against the time to B's first token, for lorekeep's step
// targets and for llama-server's batch sizes.
import { Contestants } from '../../harness/contestants.mjs';
import { median, quantile } from '../../harness/numbers.mjs';
import { contestantsOf, own, withLlama } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { firstTokenMs, gaps } from '../timeline.mjs';

const context = 8192;
/** B arrives when A has this many tokens; A and C end when B has this many. */
const [lead, follow] = [16, 8];
const longReply = 1500;
const shortPrompt = 64;
const streamed = 48;
/** Rounds of contestants that are not lorekeep's own runtime: each takes a minute and more. */
const slowRounds = 1;
/** Limit of A's longest gap: a number of its own steps plus some ms. */
const [maxSteps, maxMs] = [3, 50];

/** Adds the table "generation-fairness" and the curve "gap-first-token". */
export async function scenes(options, result) {
  const model = await languageModel(options.model);
  if (model.reason) throw new Error(`${options.model}: ${model.reason}`);
  const settings = settingsOf(options);
  const groups = await startGroups(model, settings, options);
  const seen = settings.map(() => []);
  const plays = (name, round) => name === own || round < slowRounds;
  for (let round = 0; round < options.rounds; round++) {
    const alone = new Map();
    for (const { name, contestants } of groups.values()) {
      if (!plays(name, round)) continue;
      const found = await contestants.call(name, 'play', { requests: aloneScene(model, options, round) });
      if (found)
        alone.set(name, Math.min(alone.get(name) ?? Number.POSITIVE_INFINITY, firstTokenMs(found.B)));
    }
    for (const [i, setting] of settings.entries()) {
      if (!plays(setting.name, round)) continue;
      const played = await playScenes(model, setting, groups.get(setting.group), options, 100 * round + i);
      if (played) seen[i].push({ ...played, alone: alone.get(setting.name) });
      console.log(`${setting.name}, ${setting.label}: round ${round + 1} of ${options.rounds}`);
    }
    if (options.late()) break;
  }
  for (const { contestants } of groups.values()) {
    contestants.end();
    addAbsent(result, contestants);
  }
  const rows = settings.flatMap((setting, i) => rowOf(setting, seen[i]));
  result.tables.push(table(rows));
  result.curves.push(curve(rows));
  result.detail.scenes = { rows, alone: seen.map((rounds) => rounds.map((round) => round.alone)) };
}

/** `group` names the process that plays a setting: the program, and its batch size where it is started with one. */
function settingsOf({ targets, batches, server, peers }) {
  const list = targets
    .split(',')
    .map((target) => ({ name: own, group: own, label: `target ${target}`, target }));
  if (peers.includes('runtimes'))
    list.push({ name: withLlama, group: withLlama, label: 'target auto', target: 'auto' });
  if (server && peers.includes('llama-server')) {
    for (const batch of batches.split(','))
      list.push({ name: 'llama-server', group: `llama-server ${batch}`, label: `-b ${batch}`, batch });
  }
  return list;
}

async function startGroups(model, settings, options) {
  const groups = new Map();
  for (const { name, group, batch } of settings) {
    if (groups.has(group)) continue;
    const list = contestantsOf(model, { ...options, context, batch });
    const contestants = await Contestants.start(list.filter((one) => one.name === name));
    groups.set(group, { name, contestants });
  }
  return groups;
}

// Every scene has prompts of its own, so that no cache helps.
const tokens = (model, count, seed, part) => promptTokens(model, count, 10 * seed + part);

function aloneScene(model, { prompt }, round) {
  return [{ name: 'B', prompt: tokens(model, prompt, 7000 + round, 1), maxTokens: 1 }];
}

async function playScenes(model, { name, target }, { contestants }, { prompt }, seed) {
  const call = (method, argument) => contestants.call(name, method, argument);
  if (target !== undefined)
    await call('configure', { stepTargetMs: target === 'auto' ? 'auto' : Number(target) });
  const short = (part) => tokens(model, shortPrompt, seed, part);
  const until = { name: 'B', tokens: follow };
  const stream = await call('play', {
    requests: [{ name: 'A', prompt: short(2), maxTokens: streamed }],
  });
  const mix =
    stream &&
    (await call('play', {
      requests: [
        { name: 'A', prompt: short(3), maxTokens: longReply, until },
        {
          name: 'B',
          prompt: tokens(model, prompt, seed, 4),
          maxTokens: follow,
          after: { name: 'A', tokens: lead },
        },
        { name: 'C', prompt: short(5), maxTokens: longReply, class: 'background', until },
      ],
    }));
  return mix && { stream, mix };
}

function rowOf({ name, label }, rounds) {
  if (rounds.length === 0) return [];
  const over = (get) => median(rounds.map(get));
  const step = over(({ stream }) => median(gaps(stream.A)));
  const gap = over(({ mix }) => Math.max(...gapsWhile(mix)));
  const first = over(({ mix }) => firstTokenMs(mix.B));
  return [
    {
      name,
      setting: label,
      step,
      gap,
      limit: gap / (maxSteps * step + maxMs),
      p99: over(({ mix }) => quantile(gapsWhile(mix), 0.99)),
      first,
      ratio: over(({ mix, alone }) => firstTokenMs(mix.B) / alone),
      background: over(
        ({ mix }) => mix.C.tokenMs.filter((at) => at > mix.B.startMs && at < mix.B.tokenMs[0]).length,
      ),
    },
  ];
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

function curve(rows) {
  return {
    chart: 'gap-first-token',
    panel: 'A streams, B brings a long prompt, C generates in the background',
    series: [own, withLlama, 'llama-server']
      .map((name) => ({
        name,
        points: rows
          .filter((row) => row.name === name)
          .map(({ first, gap }) => ({ x: first / 1000, y: gap }))
          .sort((a, b) => a.x - b.x),
      }))
      .filter(({ points }) => points.length > 0),
  };
}

function table(rows) {
  return {
    id: 'generation-fairness',
    title: 'A streams, B brings a long prompt, C generates in the background',
    columns: [
      { key: 'name', label: 'program' },
      { key: 'setting', label: 'setting' },
      { key: 'step', label: "A's step alone, ms" },
      { key: 'gap', label: "A's longest gap, ms" },
      { key: 'limit', label: `of ${maxSteps} steps + ${maxMs} ms`, digits: 2 },
      { key: 'p99', label: "A's p99 gap, ms" },
      { key: 'first', label: "B's first token, ms" },
      { key: 'ratio', label: 'of its time alone', digits: 2 },
      { key: 'background', label: "C's tokens meanwhile", digits: 0 },
    ],
    rows,
  };
}
