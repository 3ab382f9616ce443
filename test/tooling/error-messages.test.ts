import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Errors of dlopen(), of commander, and some of Postgres's driver have no parts but their messages. */
const allowed = ['lib/boundary/load-failure.ts', 'src/cli/program.ts', 'src/knowledge/postgres/client.ts'];

const recognises = [
  /\bmessage\??\.(?:includes|startsWith|endsWith|match|matchAll|search|replace|replaceAll|indexOf)\(/,
  /\.(?:test|exec)\((?:\w+\.)?message\)/,
];

test('no error is recognised by its message, nor cut apart by a pattern', () => {
  const files = ['lib', 'src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return recognises.some((pattern) => pattern.test(text));
  });
  expect(found.sort()).toEqual(allowed);
});
