import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { binding } from '../../lib/boundary/binding.js';
import { errorCodes } from '../../lib/boundary/error-details.js';
import { nativeExports } from '../../lib/boundary/native.js';
import * as library from '../../lib/index.js';
import * as internal from '../../lib/internal.js';
import { reachable } from '../helpers/module-graph.js';

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test('the addon exports exactly what lib/boundary/native.ts says; the development edition adds forced crashes and the watch', () => {
  expect(Object.keys(binding).sort()).toEqual(
    [...nativeExports, 'forceCrash', 'longSteps', 'watchSteps'].sort(),
  );
});

test('every error code of the core has a public meaning, and the other way round', () => {
  const source = readFileSync(root('native/core/values/error.cc'), 'utf8');
  const native = [...source.matchAll(/return "([A-Z_]+)";/g)].map((match) => match[1]);
  expect(native.length).toBeGreaterThan(10);
  expect([...new Set(native)].sort()).toEqual(Object.keys(errorCodes).sort());
});

test('Node.js prints errors of the library under their public names', () => {
  expect(inspect(new library.LorekeepError('CLOSED', 'the index is closed'))).toMatch(/^LorekeepError: the/);
  expect(inspect(new library.AbortError('enough'))).toMatch(/^AbortError: the operation/);
});

test('nothing but lib/ imports the addon', () => {
  const sources = readdirSync(root('src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  expect(sources.length).toBeGreaterThan(5);
  for (const name of sources) {
    expect(readFileSync(root(`src/${name}`), 'utf8'), name).not.toMatch(/lib\/boundary\/(binding|native)/);
  }
});

test('src/ has two doors: the whole library with its internals, and what does not load the addon', () => {
  expect(Object.keys(library).filter((name) => !(name in internal))).toEqual([]);
  expect(Object.keys(internal).length).toBeGreaterThan(Object.keys(library).length + 3);
  const loaded = reachable('dist/lib/basics.js');
  expect(loaded).toContain('dist/lib/os/regular-file.js');
  expect(loaded).not.toContain('dist/lib/boundary/binding.js');
  const { exports } = JSON.parse(readFileSync(root('package.json'), 'utf8'));
  expect(JSON.stringify(exports)).not.toMatch(/internal|basics|\*/);
});

test('the public interface is this', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AbortError',
    'EmbeddingModel',
    'Filter',
    'LanguageModel',
    'LorekeepError',
    'Prefix',
    'Records',
    'Reranker',
    'SpeechRecogniser',
    'Storage',
    'TextIndex',
    'VectorIndex',
    'VoiceDetector',
    'VoiceStream',
    'backends',
    'distanceKernels',
    'errorCodes',
    'findBackend',
    'inspectFile',
    'scheduler',
    'searchModes',
    'setSearchThreads',
    'setThrottle',
    'tokenize',
    'useBackend',
  ]);
});
