// Timing of calls, in the process of each contestant.

const shown = 8;

/** Times `embed(texts)`, which gives one array of numbers per text; `processor()` gives seconds used so far. */
export async function timeBulk(texts, embed, processor = ownProcessor) {
  const before = processor();
  const started = performance.now();
  const rows = await embed(texts);
  const seconds = (performance.now() - started) / 1e3;
  return {
    seconds,
    processor: processor() - before,
    rows: Array.from({ length: Math.min(shown, texts.length) }, (_, i) => Array.from(rows(i))),
  };
}

/** Seconds of each text, one after the other. */
export async function timeEach(texts, embedOne) {
  const seconds = [];
  for (const text of texts) {
    const started = performance.now();
    await embedOne(text);
    seconds.push((performance.now() - started) / 1e3);
  }
  return seconds;
}

export function ownProcessor() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
