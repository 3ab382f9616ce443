import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'check-layers.mjs');

let tree: string;

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'lorekeep-layers-'));
  write('package.json', JSON.stringify({ dependencies: { zod: '1.0.0' } }));
});
afterEach(() => rmSync(tree, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(tree, dirname(path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

function check(atLeast: number) {
  const args = [script, '--root', tree, '--at-least', String(atLeast)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n').filter(Boolean), stderr: stderr.trim() };
}

describe('the layer check', () => {
  test('accepts imports and includes that point one way', () => {
    write('lib/index.ts', "import { readFileSync } from 'node:fs';\nimport { load } from './load.js';\n");
    write('lib/load.ts', "const build = require('node-gyp-build');\n");
    write(
      'src/server/server.ts',
      "import { z } from 'zod';\nimport { Storage } from '../../lib/internal.js';\nimport '../protocol/x.js';\n",
    );
    write('src/protocol/x.ts', "import { y } from './y.js';\n");
    write('src/agents/nodes/echo/node.ts', "import type { AgentNode } from '../../node.js';\n");
    write('src/client/client.ts', "import type { ServerFrames } from '../agents/wire/frames.js';\n");
    write('native/core/error.h', '#include <string>\n');
    write('native/text/bm25.cc', '#include "text/bm25.h"\n#include "core/error.h"\n');
    write('native/store/storage.cc', '#include "vector/index.h"\n#include "filter/predicate.h"\n');
    write('native/engine/model.cc', '#include "llama.h"\n#include "ggml-backend.h"\n');
    write('native/vector/graph.cc', '#include "hnswlib/hnswlib.h"\n');
    write('native/binding/addon.cc', '#include <napi.h>\n#include "engine/model.h"\n');
    const { status, lines } = check(12);
    expect(lines).toEqual(['check-layers: 6 TypeScript and 6 C++ files are in their layers']);
    expect(status).toBe(0);
  });

  test('names each line of TypeScript that points the wrong way', () => {
    write('lib/a.ts', "\nimport { Server } from '../src/server.js';\nimport pino from 'pino';\n");
    write('lib/b.ts', "export * from '../test/helper.js';\nconst x = await import('zod');\n");
    write(
      'src/server/c.ts',
      "import { x } from '../../lib/boundary/binding.js';\nimport {\n  y,\n} from 'left-pad';\n",
    );
    write(
      'src/server/d.ts',
      "import helper from '../../test/helper.js';\nimport load from 'node-gyp-build';\n",
    );
    const { status, lines, stderr } = check(1);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'lib/a.ts:2:',
      'lib/a.ts:3:',
      'lib/b.ts:1:',
      'lib/b.ts:2:',
      'src/server/c.ts:1:',
      'src/server/c.ts:4:',
      'src/server/d.ts:1:',
      'src/server/d.ts:2:',
    ]);
    expect(stderr).toBe('check-layers: 8 includes or imports point the wrong way');
    expect(status).toBe(1);
  });

  test('names each import that goes up within src, and each folder that it does not know', () => {
    write('src/protocol/a.ts', "import { Server } from '../server/server.js';\n");
    write('src/agents/b.ts', "import { quote } from './nodes/quote/index.js';\n");
    write('src/client/c.ts', "import { loadNodeTypes } from '../agents/nodes/load.js';\n");
    write('src/knowledge/d.ts', "import type { Frame } from '../protocol/frames.js';\n");
    write('src/knowledge/e.ts', "const ledger = await import('../fairness/ledger.js');\n");
    write('src/odd/f.ts', "import { a } from '../protocol/a.js';\n");
    write('src/g.ts', "import { a } from './protocol/a.js';\n");
    const { status, lines } = check(7);
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual([
      'src/agents/b.ts:1:',
      'src/client/c.ts:1:',
      'src/g.ts:1:',
      'src/knowledge/d.ts:1:',
      'src/knowledge/e.ts:1:',
      'src/odd/f.ts:1:',
      'src/protocol/a.ts:1:',
    ]);
    expect(lines.find((line) => line.startsWith('src/knowledge/e'))).toContain(
      'src/knowledge may import base, search, documents, models and itself, and this is src/fairness/ledger.js',
    );
    expect(status).toBe(1);
  });

  test('has a table without a way back', async () => {
    const { folderOf, folders } = await import(join(dirname(script), 'layers', 'folders.mjs'));
    const names = Object.keys(folders);
    for (const [at, name] of names.entries()) {
      for (const allowed of folders[name] ?? []) {
        const target = folderOf(`${allowed}/x`);
        expect(names.indexOf(target), `${name} -> ${allowed}`).toBeLessThan(at);
      }
    }
  });

  test("keeps what a command does apart from the command's flags", () => {
    write('src/cli/program.ts', "import { addAsk } from './commands/ask.js';\n");
    write('src/cli/commands/ask.ts', '');
    write('src/cli/ask/ask.ts', "import type { Ask } from '../commands/ask.js';\n");
    const { status, lines } = check(3);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['src/cli/ask/ask.ts:1:']);
    expect(status).toBe(1);
  });

  test('names a way around, of types and headers too', () => {
    write('src/base/a.ts', "import { b } from './b.js';\n");
    write('src/base/b.ts', "import {\n  type C,\n} from './c.js';\n");
    write('src/base/c.ts', "// from './a.js'\nimport type { B } from './b.js';\n");
    write('native/core/a.h', '#include "core/b.h"\n');
    write('native/core/b.h', '#include "core/a.h"\n');
    const { status, lines, stderr } = check(5);
    expect(lines).toEqual([
      'src/base/b.ts: comes back to itself: src/base/b.ts -> src/base/c.ts -> src/base/b.ts',
      'native/core/a.h: comes back to itself: native/core/a.h -> native/core/b.h -> native/core/a.h',
    ]);
    expect(stderr).toBe('check-layers: 2 includes or imports point the wrong way');
    expect(status).toBe(1);
  });

  test('names each include that points the wrong way', () => {
    write('native/core/a.cc', '#include "text/bm25.h"\n#include <napi.h>\n');
    write('native/text/b.h', '#include "core/error.h"\n#include "vector/index.h"\n#include "llama.h"\n');
    write('native/engine/c.cc', '#include "store/storage.h"\n#include "error.h"\n');
    write('native/vector/d.cc', '#include "hnswlib/hnswlib.h"\n');
    write('native/vector/e.cc', '#include "hnswlib.h"\n');
    write('test/native/f.cc', '# include <gguf.h>\n');
    write('test/native/vector/h.cc', '#include "hnswlib.h"\n');
    write('test/native/vector/i.cc', '#include "hnswlib.h"\n');
    write('native/odd/g.cc', '#include "core/error.h"\n');
    const { status, lines } = check(1);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'native/core/a.cc:1:',
      'native/core/a.cc:2:',
      'native/engine/c.cc:1:',
      'native/engine/c.cc:2:',
      'native/odd/g.cc:1:',
      'native/text/b.h:2:',
      'native/text/b.h:3:',
      'native/vector/e.cc:1:',
      'test/native/f.cc:1:',
      'test/native/vector/i.cc:1:',
    ]);
    expect(status).toBe(1);
  });

  test('fails when it saw fewer files than there must be', () => {
    write('lib/index.ts', '');
    const { status, stderr } = check(2);
    expect(stderr).toBe('check-layers: only 1 files were seen, at least 2 were expected');
    expect(status).toBe(1);
  });
});
