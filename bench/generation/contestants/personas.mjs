// A persona's prefix, computed cold and saved by one process, and loaded by another.

async function firstTokenMs(generate, prompt) {
  const begin = performance.now();
  await generate({ prompt, maxTokens: 1 }).result;
  return performance.now() - begin;
}

/** The first token of an agent whose persona nobody computed before; then saves the persona. */
export async function savePersona({ model, generate }, { persona, own, path }) {
  const ms = await firstTokenMs(generate, [...persona, ...own]);
  const prefix = await model.prefix(Int32Array.from(persona));
  await prefix.save(path);
  return ms;
}

/** The first token of an agent in a new process, reading the saved persona included. */
export async function withSavedPersona({ model, generate }, { persona, own, path }) {
  const begin = performance.now();
  await model.loadPrefix(path);
  const loadMs = performance.now() - begin;
  return loadMs + (await firstTokenMs(generate, [...persona, ...own]));
}
