import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';

const root = join(import.meta.dirname, '..', '..');
const data = join(root, 'data', 'models');
const model = join(data, 'lorekeep-mini.gguf');
const real = resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'));
const exact = join(real, 'all-MiniLM-L6-v2-f16.gguf');
const inFolder = temporaryFolder();
const lorekeep = commandHost();

interface Reference {
  items: [{ text: string; tokens: number[]; vector: number[] }];
}

const reference = (): Reference =>
  JSON.parse(readFileSync(join(data, 'all-MiniLM-L6-v2.reference.json'), 'utf8'));

/** A catalog whose model "one" is compared with a reference. */
function catalog(file: string, items: unknown, least_cosine = 0.999): string {
  const path = inFolder('models.json');
  writeFileSync(inFolder('reference.json'), JSON.stringify({ items }));
  const variant = { file, reference: { file: 'reference.json', least_cosine } };
  const entry = { name: 'one', model_type: 'embedding', pooling: 'mean', variants: [variant] };
  writeFileSync(path, JSON.stringify({ version: 1, models: [entry] }));
  return path;
}

const shipped = join(data, 'all-MiniLM-L6-v2.gguf');

describe('lorekeep check, of models', () => {
  it('finds that the models in the package give the tokens and vectors of their references', async () => {
    const { status, stdout } = await lorekeep(['check']);
    expect(stdout).toMatch(
      /^note: .*"all-MiniLM-L6-v2": 10 texts: the same tokens, cosine 0\.99\d+ and better; /m,
    );
    expect(stdout).toMatch(/^models\.json: model catalog, \d+ models, files of 3 present: ok$/m);
    expect(status).toBe(0);
  });

  it('fails for a vector below the required cosine, and for other tokens', async () => {
    const { items } = reference();
    const [first] = items;
    const turned = [{ ...first, vector: first.vector.toReversed() }];
    const far = await lorekeep(['check', '--json', catalog(shipped, turned)]);
    expect(far.status).toBe(1);
    expect(JSON.parse(far.stdout)).toMatchObject({
      ok: false,
      models: [{ name: 'one', least_cosine: expect.any(Number), required_cosine: 0.999 }],
    });
    const other = [{ ...first, tokens: [...first.tokens, 102] }];
    const wrong = await lorekeep(['check', '--model', 'one', '--catalog', catalog(shipped, other, 0.5)]);
    expect([wrong.status, wrong.stdout]).toEqual([
      1,
      expect.stringContaining('model "one": other tokens for "The '),
    ]);
    const wide = await lorekeep(['check', catalog(model, [{ ...first, tokens: [] }], 0)]);
    expect(wide.status).toBe(1);
  });

  it('fails for a damaged file and names it', async () => {
    const broken = inFolder('broken.gguf');
    copyFileSync(model, broken);
    const path = catalog(broken, reference().items);
    const text = readFileSync(path, 'utf8').replace('"file":', '"size_bytes":1,"file":');
    writeFileSync(path, text);
    const { status, stdout } = await lorekeep(['check', path]);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^error: .*"one": .*the catalog says 1\n/)]);
  });

  it('says what is wrong with names and references', async () => {
    const unknown = await lorekeep(['check', '--model', 'lorekeep-mni']);
    expect([unknown.status, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('did you mean "lorekeep-mini"?'),
    ]);
    const { status, stderr } = await lorekeep(['check', catalog(shipped, [])]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('reference.json: not a reference: items: '),
    ]);
  });

  const why = existsSync(exact) ? '' : `: left out, no ${exact}`;
  it.skipIf(why !== '')(`finds the F16 file within 0.999${why}`, async () => {
    const { status, stdout } = await lorekeep(['check', catalog(exact, reference().items)]);
    expect(stdout).toMatch(/^note: .*"one": 10 texts: the same tokens, cosine (0\.999\d+|1\.0+) and better/);
    expect(status).toBe(0);
  });
});
