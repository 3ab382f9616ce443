import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadNodeTypes } from '../../src/agents/nodes/load.js';
import * as registry from '../../src/agents/nodes/registry.js';

const nodes = join(import.meta.dirname, '../../src/agents/nodes');
const folders = readdirSync(nodes, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe('the registry of node types', () => {
  it('has every folder of nodes/, under the name of its type', async () => {
    const types = Object.values(registry).map(({ type }) => type);
    expect(types.sort()).toEqual(folders.map(({ name }) => name).sort());
    expect([...(await loadNodeTypes()).keys()].sort()).toEqual(types);
  });

  it('gives clients the schemas without the code, and so without the addon', () => {
    const client = new URL('../../dist/src/client/index.js', import.meta.url).href;
    const program = `await import(${JSON.stringify(client)});
      const loaded = process.report.getReport().sharedObjects.filter((file) => file.endsWith('.node'));
      console.log(JSON.stringify(loaded));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program]).toString();
    expect(JSON.parse(output)).toEqual([]);
  });
});
