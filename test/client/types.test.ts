import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientTypes } from '../../scripts/client-types/client-types.mjs';
import * as wire from '../../src/agents/wire/frames.js';
import * as components from '../../src/protocol/components.js';
import * as engine from '../../src/protocol/engine.js';
import * as history from '../../src/protocol/history.js';
import * as retrieval from '../../src/protocol/retrieval.js';

const { requestSchemas, serverSchemas } = wire;

const isField = /^ +\w+\??: /;
/** A field that tells variants apart, and the rows of the tables of frames. */
const isConstant = /^ +\w+: ('\w+'|\d+|\w+(Fields|Frame));$|^ +[{|]|^ +(kind|_type|type|node|id): /;

const modules: Record<string, object> = {
  'agents/wire/frames': wire,
  'protocol/components': components,
  'protocol/engine': engine,
  'protocol/history': history,
  'protocol/retrieval': retrieval,
};
const load = async (name: string) => modules[name] ?? expect.fail(`there is no module ${name}`);

describe('the types of the client', () => {
  it('are unknown only where any JSON value is meant', async () => {
    const unknown = (await clientTypes(load)).text.matchAll(/^ +(\w+)\??: unknown/gm);
    expect([...new Set([...unknown].map(([, name]) => name))].sort()).toEqual(['actionResult', 'arguments']);
  });

  it('are generated from the schemas (scripts/generate-schemas.mjs writes them)', async () => {
    const path = join(import.meta.dirname, '../../src/client/frames.gen.ts');
    expect(readFileSync(path, 'utf8')).toBe((await clientTypes(load)).text);
  });

  it('have every frame, and a text on every field', async () => {
    const { text, undescribed } = await clientTypes(load);
    expect(undescribed).toEqual([]);
    for (const type of Object.keys(serverSchemas)) expect(text).toContain(`export interface ${type}Frame {`);
    for (const type of Object.keys(requestSchemas))
      expect(text).toContain(` ${type.replace(/(Request)?$/, 'Fields')} `);
    const lines = text.slice(text.indexOf('export interface Hit {')).split('\n');
    const bare = lines.filter((line, at) => isField.test(line) && !lines[at - 1]?.endsWith('*/'));
    expect(bare.filter((line) => !isConstant.test(line))).toEqual([]);
    expect(lines.filter((line) => isField.test(line)).length).toBeGreaterThan(200);
  });
});
