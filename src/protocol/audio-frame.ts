/**
 * The payload of a binary frame: three unsigned integers of 32 bits, big-endian, then the samples. The integers are the
 * kind of the payload (1: audio), the stream, and the sequence number.
 */
export const audioHeaderBytes = 12;

/** Longest payload of a binary frame: more than any credit. */
export const longestAudioFrame: number = 2 * 1024 * 1024;

const audioPayload = 1;

/** Audio of one stream. */
export interface AudioFrame {
  readonly stream: number;
  /** From 0, one more for each frame. */
  readonly sequence: number;
  /** Interleaved, little-endian, in the stream's format. */
  readonly samples: Uint8Array;
}

/** Returns the parts of a payload; undefined if it is no audio. */
export function parseAudioFrame(payload: Uint8Array): AudioFrame | undefined {
  if (payload.length < audioHeaderBytes) return undefined;
  const head = new DataView(payload.buffer, payload.byteOffset, audioHeaderBytes);
  if (head.getUint32(0) !== audioPayload) return undefined;
  return {
    stream: head.getUint32(4),
    sequence: head.getUint32(8),
    samples: payload.subarray(audioHeaderBytes),
  };
}

/** Returns the payload for a frame. */
export function audioPayloadOf({ stream, sequence, samples }: AudioFrame): Uint8Array {
  const payload = new Uint8Array(audioHeaderBytes + samples.length);
  const head = new DataView(payload.buffer);
  head.setUint32(0, audioPayload);
  head.setUint32(4, stream);
  head.setUint32(8, sequence);
  payload.set(samples, audioHeaderBytes);
  return payload;
}
