/** The least cosine of rows to the rows of the same position, of any lengths but zero. */
export const minCosine = (found, expected) => Math.min(...found.map((row, i) => cosine(row, expected[i])));

function cosine(a, b) {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb);
}
