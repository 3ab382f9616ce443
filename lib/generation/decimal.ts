/** A decimal number: sign, digits before the point without leading zeros ("0" for none), and behind it without trailing ones. */
export interface Decimal {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

/** The exact decimal of the shortest text of a number, which must be finite, or of an integer. */
export function decimalOf(value: number | bigint): Decimal {
  const [, sign = '', before = '', behind = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  const digits = before + behind;
  const point = before.length + Number(exponent);
  const padded = digits.padStart(digits.length + Math.max(0, 1 - point), '0');
  const at = Math.max(point, 1);
  const whole = padded.slice(0, at).padEnd(at, '0');
  const fraction = padded.slice(at);
  return {
    negative: sign === '-',
    whole: whole.replace(/^0+(?=\d)/, ''),
    fraction: fraction.replace(/0+$/, ''),
  };
}

/** Below 0, 0 or above, as `a` is less than, equal to, or more than `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const places = Math.max(a.fraction.length, b.fraction.length);
  const scaled = ({ negative, whole, fraction }: Decimal) =>
    BigInt(whole + fraction.padEnd(places, '0')) * (negative ? -1n : 1n);
  const difference = scaled(a) - scaled(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
