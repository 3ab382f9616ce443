/** Retrieval quality of words alone on public collections, by bench/quality, where their data are at hand. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/helpers/folder.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const data = resolve(process.env.LOREKEEP_DATA ?? join(root, '..', 'shared', 'data'));
const present = existsSync(join(data, 'ir', 'scifact', 'corpus.jsonl.gz'));
const languages = ['ar', 'de', 'el', 'en', 'es', 'hi', 'ro', 'ru', 'th', 'tr', 'vi', 'zh'];
const folder = temporaryFolder();

interface Row {
  collection: string;
  engine: string;
  ndcg: number;
  recall: number;
}

if (!present) console.log(`left out: no collections under ${data}; LOREKEEP_DATA names their folder`);

describe.skipIf(!present)('lexical search on public collections', () => {
  let rows: Row[];

  beforeAll(async () => {
    const names = ['scifact', 'cranfield', ...languages.map((language) => `xquad-${language}`)];
    const program = join(root, 'bench', 'quality', 'lexical.mjs');
    const json = folder('quality.json');
    const args = [program, '--engines', 'lorekeep', '--only', names.join(','), '--json', json];
    await promisify(execFile)(process.execPath, args, { env: { ...process.env, LOREKEEP_DATA: data } });
    rows = JSON.parse(readFileSync(json, 'utf8')) as Row[];
  }, 300_000);

  function measured(collection: string, tokenizer: string): Row {
    const found = rows.find((row) => row.collection === collection && row.engine === `lorekeep ${tokenizer}`);
    if (!found) throw new Error(`${collection}, ${tokenizer}: not measured`);
    return found;
  }

  test.each([
    ['scifact', 'enhanced', 0.67],
    ['cranfield', 'enhanced', 0.41],
    ['xquad-zh', 'multilingual', 0.95],
    ['xquad-th', 'multilingual', 0.95],
  ])('finds on %s with the tokenizer %s at an nDCG@10 of %d at least', (collection, tokenizer, least) => {
    expect(measured(collection, tokenizer).ndcg).toBeGreaterThanOrEqual(least);
  });

  test.each(languages)('multilingual is better than basic in the language %s', (language) => {
    const basic = measured(`xquad-${language}`, 'basic');
    const multilingual = measured(`xquad-${language}`, 'multilingual');
    expect(multilingual.ndcg).toBeGreaterThan(basic.ndcg);
    expect(multilingual.recall).toBeGreaterThanOrEqual(basic.recall);
  });
});
