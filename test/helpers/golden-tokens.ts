/** Tokens that tools/golden/record-tokens.py recorded of reference tokenizers. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface GoldenTokens {
  block: number;
  seed: number;
  strings_per_script: number;
  scripts: Record<string, [first: number, last: number]>;
  strings: string[];
  files: Record<string, { every: number; digests: string[] }>;
}

type Tokenize = (text: string) => Promise<number[]>;

export async function tokenDigests(
  { block }: GoldenTokens,
  texts: readonly string[],
  tokenize: Tokenize,
): Promise<string[]> {
  const found: string[] = [];
  for (let begin = 0; begin < texts.length; begin += block) {
    const hash = createHash('sha256');
    for (const text of texts.slice(begin, begin + block)) {
      const ids = await tokenize(text);
      hash.update(new Uint8Array(Uint32Array.of(ids.length, ...ids).buffer));
    }
    found.push(hash.digest('hex').slice(0, 16));
  }
  return found;
}

/** The same strings as strings() of the recorder. */
export function generatedStrings(golden: GoldenTokens): string[] {
  let state = BigInt(golden.seed);
  const draw = (bound: number): number => {
    state = (state * 1664525n + 1013904223n) % 2n ** 32n;
    return Number((state >> 8n) % BigInt(bound));
  };
  const ascii = golden.scripts.ASCII as [number, number];
  const marks = golden.scripts.marks as [number, number];
  const strings: string[] = [];
  for (const own of Object.values(golden.scripts)) {
    for (let i = 0; i < golden.strings_per_script; i++) {
      let text = '';
      for (let left = draw(40); left > 0; left--) {
        const [low, high] = draw(6) === 0 ? ascii : draw(12) === 0 ? marks : own;
        const code = low + draw(high - low + 1);
        text += code >= 0xd800 && code < 0xe000 ? ' ' : String.fromCodePoint(code);
      }
      strings.push(text);
    }
  }
  return strings;
}

/** The texts of each recorded file, in the folder of the test data: of its blocks, the first of every `stride`. */
export function* recordedTexts(
  golden: GoldenTokens,
  data: string,
  stride: number,
): Generator<{ file: string; texts: string[]; digests: string[] }> {
  for (const [file, { every, digests }] of Object.entries(golden.files)) {
    const lines = gunzipSync(readFileSync(join(data, file)))
      .toString()
      .trimEnd()
      .split('\n');
    const records = lines.filter((_, i) => i % every === 0).map((line) => JSON.parse(line));
    const texts = records.map(({ title, text }) => `${title || ''} ${text || ''}`);
    yield {
      file,
      texts: texts.filter((_, at) => Math.floor(at / golden.block) % stride === 0),
      digests: digests.filter((_, at) => at % stride === 0),
    };
  }
}
