// IEEE 754 half-precision numbers as their 16 bits.

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

export function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The nearest half, ties to even. Precondition: |value| < 65520. */
export function toHalf(value) {
  const magnitude = Math.abs(value);
  single[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  if (magnitude < 2 ** -14) return sign | roundEven(magnitude * 2 ** 24);
  const exponent = Math.floor(Math.log2(magnitude));
  // A fraction that rounds up to 1024 carries into the exponent, as it should.
  return sign | (((exponent + 15) << 10) + roundEven((magnitude / 2 ** exponent - 1) * 1024));
}

function roundEven(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
