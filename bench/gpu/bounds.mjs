// What bounds a row: the shortest time that a step could take by each of three ceilings of the GPU, which ceilings.cu measures.
//
//   launches    kernels of a step x ms between two empty kernels of a graph
//   bandwidth   bytes read by a step / bytes per second that a copy on the device reads and writes; a step reads all weights but the
//               embeddings of tokens (except where they are the output matrix, too) and, of each of its streams, the KV cache in front of it
//   arithmetic  operations of a step / operations per second of mma.sync with f16 inputs; two for each weight and token, and four for each
//               number of the queries and position in front of a token

/** Kernels of a layer in a step: 2 norms, 7 products with 4 conversions of their inputs, 2 rotations, 2 writes of the KV cache, attention in 2
 * parts, the gate, 2 sums. Beside the layers: the embeddings, a norm, a conversion, the output. */
const [kernelsOfLayer, kernelsBeside] = [22, 4];
/** Bytes of a weight: a block of Q4_0 (18 bytes), of Q8_0 (34) has 32. The KV cache is in half precision. */
const [q4, q8, half] = [18 / 32, 34 / 32, 2];

/** Weights that a token meets, and bytes of a step for them. */
export function costOf({ layers, width, heads, kvHeads, feedForward, vocabulary }) {
  const keys = (width / heads) * kvHeads;
  const layer = 2 * width * width + 2 * width * keys + 3 * width * feedForward;
  return {
    weights: layers * layer + width * vocabulary,
    bytes: layers * layer * q4 + width * vocabulary * q8,
    /** Of the KV cache, per position. */
    cacheBytes: 2 * layers * keys * half,
    kernels: layers * kernelsOfLayer + kernelsBeside,
  };
}

/**
 * The bounds of a row in tokens per second. `batch`: tokens that a step computes; `before`: tokens in front of each.
 * @param ceilings {bytesPerSecond, operationsPerSecond, launchMs}
 */
export function boundsOf({ shape, batch, before, kind }, { bytesPerSecond, operationsPerSecond, launchMs }) {
  const { weights, bytes, cacheBytes, kernels } = costOf(shape);
  const rowsOfOutput = kind === 'decode' ? batch : 1;
  const inLayers = weights - shape.width * shape.vocabulary;
  const products = 2 * (inLayers * batch + shape.width * shape.vocabulary * rowsOfOutput);
  // The tokens of a prompt read the cache once, streams each their own.
  const cached = cacheBytes * before * (kind === 'decode' ? batch : 1);
  const attention =
    4 * shape.width * shape.layers * batch * (kind === 'decode' ? before : before + batch / 2);
  const seconds = {
    launches: (kernels * launchMs) / 1000,
    bandwidth: (bytes + cached) / bytesPerSecond,
    arithmetic: (products + attention) / operationsPerSecond,
  };
  return Object.fromEntries(Object.entries(seconds).map(([name, time]) => [name, batch / time]));
}

/** For each row of streams.mjs: the bounds, the least of them, and the share of it that was reached. */
export function boundsTable(rows, ceilings) {
  return {
    id: 'gpu-bounds',
    title: 'What bounds a row, tokens per second',
    columns: [
      { key: 'model', label: 'model' },
      { key: 'row', label: '' },
      { key: 'launches', label: 'by launches' },
      { key: 'bandwidth', label: 'by bandwidth' },
      { key: 'arithmetic', label: 'by arithmetic' },
      { key: 'bound', label: 'bound' },
      { key: 'own', label: 'reached: lorekeep', digits: 2 },
      { key: 'peer', label: 'llama-server', digits: 2 },
    ],
    rows: rows
      .filter(({ kind }) => kind)
      .map((row) => {
        const bounds = boundsOf(row, ceilings);
        const [[bound, least]] = Object.entries(bounds).sort(([, a], [, b]) => a - b);
        const { model, row: name, own, peer } = row;
        return { model, row: name, ...bounds, bound, own: own / least, peer: peer / least };
      }),
  };
}
