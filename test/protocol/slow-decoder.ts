/** What a byte stream means, read plainly from its beginning: the twin that the decoder must agree with. */
export interface SlowResult {
  frames: { kind: number; payload: Buffer }[];
  /** The error's code when framing is lost; the frames before it still count. */
  error?: 1001 | 1003;
}

export function decodeSlowly(stream: Buffer, maxPayloadBytes: number): SlowResult {
  const frames: SlowResult['frames'] = [];
  let rest = [...stream];
  while (rest.length > 0) {
    const [kind, a, b, c, d] = rest;
    if (kind !== 1 && kind !== 2) return { frames, error: 1001 };
    if (a === undefined || b === undefined || c === undefined || d === undefined) break;
    const length = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
    if (length > maxPayloadBytes) return { frames, error: 1003 };
    if (rest.length < 5 + length) break;
    frames.push({ kind, payload: Buffer.from(rest.slice(5, 5 + length)) });
    rest = rest.slice(5 + length);
  }
  return { frames };
}
