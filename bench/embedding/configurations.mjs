// Which of a contestant's configurations is its best, found by trying them.

/** A try asks some texts in one go, of about so many tokens, and few one at a time. */
const tokensOfMany = 800;
const [fewest, single] = [4, 2];

/**
 * Tries every configuration of every contestant on some of `texts`, each once unseen before.
 * @returns name -> {many, one}: the fastest for many texts, and for one
 */
export async function bestConfigurations(contestants, texts, tokens) {
  const some = texts.slice(0, Math.max(fewest, Math.round(tokensOfMany / tokens)));
  const chosen = new Map();
  for (const name of contestants.names) {
    const names = (await contestants.call(name, 'configurations')) ?? [];
    if (names.length === 1) chosen.set(name, { many: names[0], one: names[0] });
    else if (names.length > 1) chosen.set(name, await tryAll(contestants, name, names, some));
  }
  return chosen;
}

async function tryAll(contestants, name, names, texts) {
  const best = { many: { seconds: Number.POSITIVE_INFINITY }, one: { seconds: Number.POSITIVE_INFINITY } };
  for (const configuration of names) {
    const call = (method, count) =>
      contestants.call(name, method, { texts: texts.slice(0, count), configuration });
    await call('bulk', 1);
    const bulk = await call('bulk', texts.length);
    const each = bulk && (await call('each', single));
    if (each === undefined) break;
    if (bulk.seconds < best.many.seconds) best.many = { configuration, seconds: bulk.seconds };
    const seconds = Math.min(...each);
    if (seconds < best.one.seconds) best.one = { configuration, seconds };
  }
  return { many: best.many.configuration, one: best.one.configuration };
}
