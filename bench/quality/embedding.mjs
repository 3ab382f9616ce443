// Embeds documents that may be longer than the model's context: the first window counts, as with `long_text: "truncate"`.

const shrink = 0.95;

/** Row-major embeddings of all texts, and how many had to be cut. */
export async function embedFirstWindows(model, texts) {
  const vectors = new Float32Array(texts.length * model.dimension);
  let pending = texts.map((text, index) => ({ text, index }));
  let cut = 0;
  while (pending.length > 0) {
    const { vectors: rows, errors } = await model.embedSettled(pending.map(({ text }) => text));
    const failed = new Map(errors.map((error) => [error.index, error]));
    const again = [];
    pending.forEach((item, row) => {
      const error = failed.get(row);
      if (error === undefined) {
        vectors.set(
          rows.subarray(row * model.dimension, (row + 1) * model.dimension),
          item.index * model.dimension,
        );
      } else if (error.code === 'TEXT_TOO_LONG') {
        const length = Math.floor((item.text.length * error.limit * shrink) / error.tokens);
        again.push({ text: item.text.slice(0, length), index: item.index });
      } // An empty document keeps a zero vector: it is near nothing.
    });
    cut ||= again.length;
    pending = again;
  }
  return { vectors, cut };
}
