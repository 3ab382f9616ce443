import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Requests, hits and results; names of facts and statistics speak for themselves. */
const isCovered =
  /(Options|Request|Hits?|HitContext|Record|Plan|Times|Timing|Result|Outcome|Sampling|Usage|Counts|Piece|Part|Message|Logprobs|Definition|ItemError)$/;
const isField = /^ {2}(readonly )?\w+\??:/;

test('every field of a request, a hit and a result has a text for the editor', () => {
  const files = ['lib', 'src/knowledge', 'src/client'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const entries = ['lib/index.ts', 'src/knowledge/index.ts', 'src/client/index.ts'].map(read).join('\n');
  const bare: string[] = [];
  let fields = 0;
  for (const text of files.map(read)) {
    for (const [, name = '', body = ''] of text.matchAll(/^export interface (\w+).*? \{\n(.*?)^\}/gms)) {
      if (!isCovered.test(name) || !new RegExp(`\\b${name}\\b`).test(entries)) continue;
      const lines = body.split('\n');
      const found = lines.filter((line) => isField.test(line));
      fields += found.length;
      bare.push(
        ...lines
          .filter((line, at) => isField.test(line) && !lines[at - 1]?.endsWith('*/'))
          .map((line) => `${name}:${line}`),
      );
    }
  }
  expect(bare).toEqual([]);
  expect(fields).toBeGreaterThan(150);
});
