// The text files of responses and patterns, as nodes read them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeLists } from '../../../dist/src/agents/lists/node-lists.js';
import { PatternThread } from '../../../dist/src/agents/lists/pattern-thread.js';
import { root } from '../../harness/cache.mjs';

const share = new PatternThread().join();
const kinds = [
  { kind: 'responses', file: 'default-canned-responses.txt', plain: (item) => item },
  { kind: 'patterns', file: 'default-guardrail-patterns.txt', plain: ({ source }) => source },
];

export const defaultLists = () =>
  kinds.map(({ kind, file, plain }) => ({
    name: `list of ${kind}`,
    weight: 3,
    text: true,
    sources: [{ bytes: readFileSync(join(root, 'data', file)) }],
    async load(path) {
      const paths = { default_canned_responses_path: path, default_guardrail_patterns_path: path };
      const items = await new NodeLists(paths, share)[kind](
        undefined,
        'params.string_storage',
        undefined,
        {},
      );
      return JSON.stringify(items.map(plain));
    },
    check: (text) =>
      JSON.parse(text).every((line) => line.trim() !== '' && !line.startsWith('#'))
        ? undefined
        : 'a line that does not count',
  }));
