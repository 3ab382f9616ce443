// Searches for content that a reader takes long for: hill climbing on processor time per character. A content is a text of any length:
// head + unit + unit + ... + tail + close + close + ..., with as many `close` as units.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stepWatch, threadMs } from '../../../dist/lib/internal.js';

/** Characters of an evaluated text; growth is measured up to the reader's limit. */
const sample = 8192;
/** Contents that are kept to start from, and that are tried at the limit. */
const kept = 6;
const tried = 3;
const longestPart = { head: 48, unit: 64, tail: 48, close: 16 };
/** A text is not read at a length at which it would take longer, in ms. */
const patience = 8000;

/** A step of the addon, and a turn of the event loop, may take no longer than this, in ms. */
export const longestStep = 50;
/** The short form fails at this one: each run finds other texts, and one a little above the limit is for the long form to report. */
export const longestInShort = 2 * longestStep;
/** Most growth of the time per character when the text doubles. n log n has 1.1; squares have 2. */
const mostGrowth = 1.6;
/** Shorter times are too noisy to judge growth by, in ms. */
const leastJudged = 100;

export function textOf({ head, unit, tail, close }, length) {
  const count = Math.max(1, Math.floor((length - head.length - tail.length) / (unit.length + close.length)));
  return head + unit.repeat(count) + tail + close.repeat(count);
}

/**
 * Returns the slowest contents found until `until`, slowest first. @param reader {read, tokens, seeds, limit, name}
 * @returns {best: contents, count: texts read}
 */
export async function climb(reader, random, until) {
  const length = Math.min(sample, reader.limit);
  const seeds = [...reader.tokens.map((unit) => ({ unit })), ...(reader.seeds ?? [])];
  const best = [];
  const known = new Set();
  let count = 0;
  const evaluate = async (content) => {
    const key = JSON.stringify(content);
    if (known.has(key)) return;
    known.add(key);
    count++;
    const text = textOf(content, length);
    let ms = (await timeOf(reader, text)).ms;
    const place = () => best.findIndex((other) => other.score < ms / text.length);
    if (best.length >= kept && place() < 0) return;
    // Once more: other programs and the garbage collector make a text slow by accident.
    ms = Math.min(ms, (await timeOf(reader, text)).ms);
    const at = place();
    best.splice(at < 0 ? best.length : at, 0, { content, score: ms / text.length });
    best.length = Math.min(best.length, kept);
  };
  for (const seed of seeds) await evaluate({ head: '', tail: '', close: '', ...seed });
  while (Date.now() < until) await evaluate(changed(random.of(best).content, random, reader.tokens));
  return { best: best.slice(0, tried).map(({ content }) => content), count };
}

function changed(content, random, tokens) {
  const part = random.of(['unit', 'unit', 'unit', 'unit', 'head', 'tail', 'close']);
  const text = content[part];
  const [from, to] = [random.below(text.length + 1), random.below(text.length + 1)].sort((a, b) => a - b);
  const other = random.of(tokens);
  const made = random.of([
    () => text.slice(0, from) + other + text.slice(from),
    () => text.slice(0, from) + other + text.slice(to),
    () => text.slice(0, from) + text.slice(to),
    () => text + text,
    () => text + other,
    () => other,
  ])();
  const short = made.slice(0, longestPart[part]);
  return { ...content, [part]: part === 'unit' && short === '' ? other : short };
}

/** A turn of the event loop that does nothing takes less, in ms. */
const emptyTurn = 0.05;

/** Reads a text, and returns the processor time of the process and of the longest turn of this thread, in ms. */
async function timeOf(reader, text) {
  let [longest, idle, reading] = [0, 0, true];
  await nextTurn();
  let last = threadMs();
  const tick = () => {
    const turn = threadMs() - last;
    longest = Math.max(longest, turn);
    if (turn < emptyTurn) idle += turn;
    last = threadMs();
    if (reading) setImmediate(tick);
  };
  const begun = process.cpuUsage();
  setImmediate(tick);
  await reader.read(text);
  tick();
  reading = false;
  const { user, system } = process.cpuUsage(begun);
  return { ms: Math.max(0.001, (user + system) / 1000 - idle), longest };
}

/** The best of up to three measurements, as long as they look bad: other programs make a text slow by accident. */
async function measured(reader, text, isBad, longestPiece) {
  const { watchSteps, longSteps } = await stepWatch();
  watchSteps(longestPiece);
  const all = [];
  do {
    longSteps();
    const time = await timeOf(reader, text);
    all.push({ ...time, steps: longSteps() });
  } while (all.length < 3 && isBad(all.at(-1)) && all.at(-1).ms < patience);
  watchSteps(0);
  const { steps } = all.sort((one, other) => one.steps.length - other.steps.length)[0];
  const least = (key) => Math.min(...all.map((time) => time[key]));
  return { ms: least('ms'), longest: least('longest'), steps };
}

/**
 * Reads a content at the reader's limit, where no piece may take longer than `longestPiece` ms.
 * @returns {problems, growth, longest, perCharacter}: what is wrong, and the numbers in ms and µs
 */
export async function judge(reader, content, longestPiece = longestStep) {
  const problems = [];
  const lengths = [16, 4, 1].map((part) => Math.floor(reader.limit / part));
  const times = [];
  let longest = 0;
  for (const [at, length] of lengths.entries()) {
    const before = times.at(-1);
    if (before !== undefined && before.ms * 16 > patience) break;
    const text = textOf(content, length);
    const isBad = (time) =>
      time.steps.length > 0 ||
      (!reader.ownThread && time.longest > longestPiece) ||
      (at > 0 && growthOf(before, { ...time, length: text.length }) > mostGrowth);
    const time = await measured(reader, text, isBad, longestPiece);
    times.push({ ms: time.ms, length: text.length });
    longest = Math.max(longest, time.longest);
    for (const { where, ms } of time.steps.slice(0, 1))
      problems.push(`a step of ${ms.toFixed(0)} ms: ${where}`);
    if (!reader.ownThread && time.longest > longestPiece)
      problems.push(`${time.longest.toFixed(0)} ms in one piece for ${text.length} characters`);
    if (problems.length > 0) break;
  }
  const growth = Math.max(1, ...times.slice(1).map((time, at) => growthOf(times[at], time)));
  if (growth > mostGrowth)
    problems.push(`the time per character grows ${growth.toFixed(2)} times per doubling`);
  const last = times.at(-1);
  if (times.length < lengths.length && problems.length === 0 && last.ms * 4 > patience)
    problems.push(`${last.ms.toFixed(0)} ms for ${last.length} of ${reader.limit} characters`);
  return { problems, growth, longest, perCharacter: (1000 * last.ms) / last.length };
}

/** Growth of the time per character for each doubling of the length. */
function growthOf(before, after) {
  if (before === undefined || after.ms < leastJudged) return 1;
  const doublings = Math.log2(after.length / before.length);
  return doublings < 1 ? 1 : (after.ms / after.length / (before.ms / before.length)) ** (1 / doublings);
}
