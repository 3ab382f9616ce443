/** Measured times and rates: no two runs have the same. */
const measured = /\d+(?:\.\d+)?(?: ?(?:ms|s|min)\b|(?=\/s\b))/g;

/** Decimal fractions are scores and distances, whose last digits depend on the processor: by this share, or this much. */
const tolerance = { share: 0.01, absolute: 0.005 };

/** Whether a page shows what a command prints: the same words and integers, fractions that agree, any times. */
export function isSameOutput(shown, printed) {
  const [a, b] = [tokens(shown), tokens(printed)];
  return a.length === b.length && a.every((token, i) => agree(token, b[i]));
}

/** Columns are as wide as their numbers, so a run of spaces is one. */
function tokens(text) {
  return text
    .replace(measured, 'T')
    .replace(/ +/g, ' ')
    .split(/(\d+(?:\.\d+)*)/);
}

const isFraction = (token) => /^\d+\.\d+$/.test(token);

function agree(a, b) {
  if (!isFraction(a) || !isFraction(b)) return a === b;
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= Math.max(tolerance.absolute, tolerance.share * Math.max(x, y));
}
