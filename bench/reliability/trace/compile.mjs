// Small C++ programs of the campaign, compiled when they are first wanted and kept in .cache.
import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { cached } from '../../harness/cache.mjs';

/** @returns the path of the program. @throws what g++ says */
export function compiled(sources, flags = []) {
  const path = cached('reliability', basename(sources[0], '.cc'));
  const newest = Math.max(...sources.map((source) => statSync(source).mtimeMs));
  if (existsSync(path) && statSync(path).mtimeMs > newest) return path;
  const made = `${path}.${process.pid}`;
  execFileSync('g++', ['-std=c++20', '-O2', ...flags, '-o', made, ...sources], { stdio: 'pipe' });
  renameSync(made, path);
  return path;
}
