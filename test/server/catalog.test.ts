import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { configSchema } from '../../src/config/schema.js';
import { Catalog } from '../../src/models/catalog.js';
import { checkModelFile } from '../../src/models/checked-file.js';
import { openModel } from '../../src/models/open-model.js';
import { type CatalogEntry, catalogJsonSchema } from '../../src/models/schema.js';
import { findModel } from '../../src/models/unknown-model.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();
const project = join(import.meta.dirname, '../..');

async function load(content: string | object): Promise<Catalog> {
  const path = inFolder(`models-${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return Catalog.load(path);
}

const variants = [{ file: 'a.gguf' }];
const model = { name: 'a', model_type: 'embedding', variants };
const refused = async (content: string | object) => {
  const error = await load(content).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LorekeepError);
  return (error as Error).message;
};

describe('the model catalog', () => {
  it('finds models by name, with files beside it', async () => {
    const llm = { name: 'b', model_type: 'llm', variants: [{ url: 'https://example.test/b' }] };
    const catalog = await load({ version: 1, models: [{ ...model, query_prefix: 'query: ' }, llm] });
    expect(catalog.find('a')).toMatchObject({ query_prefix: 'query: ', document_prefix: '' });
    expect(catalog.find('A')).toBeUndefined();
    expect(catalog.namesOf('embedding')).toEqual(['a']);
    expect(catalog.resolveFile('a.gguf')).toBe(inFolder('a.gguf'));
    expect(catalog.resolveFile('/models/a.gguf')).toBe('/models/a.gguf');
  });

  it('has the first model that is present as the default of a type, else the first', async () => {
    const named = (name: string) => ({
      ...model,
      name,
      model_type: 'llm',
      variants: [{ file: `${name}.gguf` }],
    });
    const catalog = await load({ version: 1, models: [model, named('absent'), named('present')] });
    expect(findModel(catalog, 'llm', undefined).name).toBe('absent');
    writeFileSync(inFolder('present.gguf'), '');
    expect(findModel(catalog, 'llm', undefined).name).toBe('present');
    expect(findModel(catalog, 'llm', 'absent').name).toBe('absent');
  });

  it('warns of unknown keys', async () => {
    const { warnings } = await load({ version: 1, models: [{ ...model, query_prefx: 'query: ' }] });
    expect(warnings).toEqual([
      expect.stringContaining('models[0].query_prefx: is not a known field; did you mean "query_prefix"?'),
    ]);
  });

  it('is refused when it is absent, not JSON, or of another version', async () => {
    await expect(Catalog.load(inFolder('absent.json'))).rejects.toThrow('the model catalog does not exist');
    expect(await refused('{')).toContain('not valid JSON');
    expect(await refused({ version: 2, models: [] })).toContain('version');
    expect(await refused({ version: 1 })).toContain('models: is missing');
    expect(await refused({ version: 1, models: [] })).toContain('models: a model is expected');
    expect(await refused('{"version": 1,\n "models": [}')).toContain(':2:13: not valid JSON');
    expect(await refused('{"version": 1,\n "models": [{"name": 3}]}')).toMatch(/:2:22: models\[0\]\.name: /);
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(await refused(`{"version": 1, "models": ${deep}}`)).toContain(': nested deeper than 64 levels');
    expect(await refused('{"version": 1,\n "models": [], "models": []}')).toContain(
      ':2:16: models: occurs twice',
    );
    await expect(Catalog.load(inFolder('.'))).rejects.toThrow('is a folder');
  });

  it('is refused with the entry that is wrong', async () => {
    const second = (entry: object) => refused({ version: 1, models: [model, entry] });
    expect(await second({ ...model, name: 'e5', model_type: 'vector' })).toMatch(
      /model "e5": models\[1\]\.model_type: /,
    );
    expect(await second({ ...model, name: 'e5', variants: [] })).toContain('model "e5": models[1].variants');
    expect(await second({ model_type: 'embedding', variants })).toContain('models[1].name: is missing');
    expect(await second(model)).toContain('model "a": the name is used twice');
    const both = [{ file: 'a', url: 'b' }];
    expect(await second({ ...model, name: 'e5', variants: both })).toContain(
      'model "e5": variants[0]: exactly one of',
    );
  });

  it.each([
    [{ url: 'no address' }, '"no address" is not an http or https address'],
    [{ url: 'ftp://user:secret@host/a?sig=secret' }, '"ftp://host/a" is not an'],
    [{ url: 'file:///etc/passwd' }, 'is not an http or https address'],
    [{ url: 'https://user:secret@host/a.gguf' }, 'a user name or a password is not accepted'],
    [{ hf: 'user/model/../a.gguf' }, 'is not of the form user/repository/file.gguf#revision'],
    [{ url: 'http://user:se/secret@host/a.gguf?sig=secret' }, '"http://host/a.gguf" is not an'],
    [{ url: 'https:user:secret@host/a.gguf' }, 'a user name or a password is not accepted'],
    [{ hf: 'user/model/a.gguf#..' }, 'is not of the form user/repository/file.gguf#revision'],
    [{ hf: 'user/model/a.gguf#main#main' }, 'user/repository/file.gguf#revision is expected'],
    [
      { hf: 'https://user:secret@huggingface.co/user/model/a.gguf' },
      'user/repository/file.gguf#revision is expected',
    ],
    [{ hf: 'user/model/a\n\u001b[2J.gguf' }, 'hf: it has control characters'],
    [{ url: 'https://host/a\n.gguf' }, 'url: an address has no control characters'],
    [{ file: 'a.gguf', sha256: 'f'.repeat(63) }, 'sha256: 64 hexadecimal digits are expected'],
    [{ file: 'a.gguf', size_bytes: 0 }, 'size_bytes: '],
    [{ file: 'a.gguf', size_bytes: 2 ** 53 }, 'size_bytes: '],
    [{ file: 'a\0.gguf' }, 'no file name has a NUL'],
    [{ file: 'a.gguf', reference: { file: '\0', least_cosine: 1 } }, 'no file name has a NUL'],
    [{ file: 'a.gguf', parts_sha256: ['0'.repeat(64), '1'.repeat(64)] }, '2 checksums for one file'],
    [
      { hf: 'user/model/a-00001-of-00003.gguf', parts_sha256: ['0'.repeat(64), '1'.repeat(64)] },
      '2 checksums for 3 parts',
    ],
    [
      {
        file: 'a-00001-of-00002.gguf',
        sha256: '0'.repeat(64),
        parts_sha256: ['0'.repeat(64), '1'.repeat(64)],
      },
      'one of "sha256" and "parts_sha256" is expected',
    ],
  ])('is refused with the variant that is wrong: %o', async (variant, reason) => {
    const models = [{ name: 'e5', model_type: 'embedding', variants: [variant] }];
    const message = await refused({ version: 1, models });
    expect(message).toMatch(/model "e5": (models\[0\]\.)?variants\[0\]/);
    expect(message).toContain(reason);
    expect(message).not.toContain('secret');
  });
});

describe('variants of one model', () => {
  const sums = ['a', 'B'].map((digit) => digit.repeat(64));
  it.each([
    [
      [
        { name: 'Q8_0', file: 'a' },
        { name: 'Q8_0', file: 'b' },
      ],
      'the name "Q8_0" is already used by variants[0]',
    ],
    [
      [
        { file: 'a', sha256: sums[0] },
        { file: 'a', sha256: sums[1] },
      ],
      'the same file as variants[0], with another "sha256"',
    ],
    [
      [{ hf: 'u/m/a', size_bytes: 1 }, { file: 'b' }, { hf: 'u/m/a', size_bytes: 2 }],
      'the same file as variants[0], with another "size_bytes"',
    ],
  ])('do not contradict each other: %j', async (clashing, reason) => {
    const last = clashing.length - 1;
    const message = await refused({ version: 1, models: [{ ...model, variants: clashing }] });
    expect(message).toContain(`model "a": variants[${last}]: ${reason}`);
  });

  it('may be one file in several settings', async () => {
    const sum = 'a'.repeat(64);
    const variants = [
      { name: 'long', file: 'a', sha256: sum, context_size: 8192 },
      { name: 'short', file: 'a', sha256: sum.toUpperCase() },
      { file: 'a' },
      { file: 'a', size_bytes: 3 },
    ];
    await load({ version: 1, models: [{ ...model, variants }] });
  });
});

describe('the voice settings of an entry', () => {
  it.each([
    [{ threshold: 0.3, end_threshold: 0.4 }, 'end_threshold: at most the threshold, 0.3, is expected'],
    [{ end_threshold: 0.6 }, 'end_threshold: at most the threshold, 0.5, is expected'],
    [
      { min_speech_ms: 5000, max_segment_ms: 2000 },
      'min_speech_ms: less than max_segment_ms, 2000, is expected',
    ],
  ])('do not contradict each other: %j', async (vad, reason) => {
    const entry = { name: 'voice', model_type: 'vad', vad, variants: [{ file: 'silero.bin' }] };
    expect(await refused({ version: 1, models: [entry] })).toContain(`model "voice": vad.${reason}`);
  });
});

describe('the files of a catalog', () => {
  it('downloads are looked for in models_download_dir; the first variant whose file is present is used', async () => {
    const { models_download_dir: folder } = configSchema.parse({
      models_download_dir: inFolder('downloads'),
    });
    const path = inFolder('variants.json');
    const hf = { name: 'remote', hf: 'someone/model/model.gguf' };
    const variants = [hf, { name: 'local', file: 'local.gguf' }];
    writeFileSync(path, JSON.stringify({ version: 1, models: [{ name: 'm', model_type: 'llm', variants }] }));
    const catalog = await Catalog.load(path, folder);
    const entry = catalog.find('m') as CatalogEntry;
    expect(catalog.locate(entry)).toMatchObject({ variant: { name: 'local' }, present: false });
    writeFileSync(inFolder('local.gguf'), 'x');
    expect(catalog.locate(entry)).toMatchObject({ variant: { name: 'local' }, present: true });
    const downloaded = catalog.downloads.path(hf);
    mkdirSync(folder);
    writeFileSync(downloaded, 'x');
    expect(catalog.locate(entry)).toMatchObject({ variant: hf, path: downloaded, present: true });
  });

  it('are chosen by what is present, then by memory, and the choice has a reason', async () => {
    const path = inFolder('sizes.json');
    const local = (name: string, bytes: number) => {
      if (bytes > 0) writeFileSync(inFolder(`${name}.gguf`), 'x'.repeat(bytes));
      return { name, file: `${name}.gguf` };
    };
    const variants = [local('F16', 0), local('Q8', 800), local('Q4', 400), local('Q2', 200)];
    const far = [800, 400, 200].map((size_bytes) => ({
      name: `${size_bytes}`,
      url: `http://127.0.0.1:1/${size_bytes}`,
      size_bytes,
    }));
    const models = [
      { name: 'near', model_type: 'llm', variants },
      { name: 'far', model_type: 'llm', variants: far },
    ];
    writeFileSync(path, JSON.stringify({ version: 1, models }));
    const catalog = await Catalog.load(path, inFolder('nothing'));
    const [near, remote] = catalog.entries as [CatalogEntry, CatalogEntry];
    const choice = (room: number | undefined) => {
      catalog.room = () => room;
      const { variant, reason } = catalog.locate(near);
      return [variant.name, reason, catalog.downloadable(remote)?.name];
    };
    expect(choice(undefined)).toEqual(['Q8', 'the first that is present', '800']);
    expect(choice(800)).toEqual(['Q8', 'the first that is present', '800']);
    expect(choice(799)).toEqual(['Q4', 'the first that is present and fits into 0 MiB', '400']);
    expect(choice(100)).toEqual(['Q2', 'the smallest that is present; none fits into 0 MiB', '200']);
    expect(catalog.downloadable(remote, '800')?.name).toBe('800');
    expect(catalog.downloadable(near)).toBeUndefined();
  });

  it('a file that contradicts the size or the checksum of the catalog is refused, with both values', async () => {
    const path = inFolder('checked.gguf');
    writeFileSync(path, 'a model');
    const sha256 = createHash('sha256').update('a model').digest('hex');
    await checkModelFile(path, { size_bytes: 7, sha256: sha256.toUpperCase() });
    await checkModelFile(inFolder('absent.gguf'), { size_bytes: 7, sha256 });
    await expect(checkModelFile(path, { size_bytes: 8 })).rejects.toThrow(
      'it has 7 bytes, the catalog says 8',
    );
    writeFileSync(path, 'A model');
    await expect(checkModelFile(path, { sha256 })).rejects.toThrow(
      /its SHA-256 is [0-9a-f]{64}, the catalog says/,
    );
  });

  it('a file that is replaced while it is loaded is refused, and what was loaded is closed', async () => {
    const file = inFolder('replaced.gguf');
    writeFileSync(file, 'a model');
    const sha256 = createHash('sha256').update('a model').digest('hex');
    const catalog = await load({ version: 1, models: [{ ...model, variants: [{ file, sha256 }] }] });
    const entry = catalog.find('a') as CatalogEntry;
    const log = { info() {}, error() {} };
    let closed = 0;
    const { signal } = new AbortController();
    const opened = openModel({ catalog, entry, located: catalog.locate(entry), log, signal }, async () => {
      writeFileSync(file, 'another');
      return { facts: {}, close: async () => void closed++ };
    });
    await expect(opened).rejects.toThrow(/its SHA-256 is [0-9a-f]{64}, the catalog says/);
    expect(closed).toBe(1);
  });

  it('a path that the system does not follow is left to the loader, which names it', async () => {
    symlinkSync('endless.gguf', inFolder('endless.gguf'));
    for (const path of [inFolder('endless.gguf'), inFolder(`${'x'.repeat(300)}.gguf`)])
      await checkModelFile(path, { size_bytes: 8, sha256: '0'.repeat(64) });
  });
});

describe('the JSON Schema of the catalog', () => {
  it('is current (scripts/generate-schemas.mjs writes it)', () => {
    const path = join(project, 'schemas', 'model-catalog.schema.json');
    expect(readFileSync(path, 'utf8')).toBe(catalogJsonSchema());
  });

  it('has the fields of a variant, and asks for one place of the model', () => {
    const { properties } = JSON.parse(catalogJsonSchema()).properties.models.items;
    const variant = properties.variants.items;
    expect(Object.keys(variant.properties)).toEqual(
      expect.arrayContaining(['file', 'url', 'sha256', 'size_bytes', 'context_size']),
    );
    expect(variant.oneOf).toEqual([
      { required: ['file'] },
      { required: ['url'] },
      { required: ['hf'] },
      { required: ['remote'] },
    ]);
  });
});

it('the shipped catalog is right about the files that are there', async () => {
  const catalog = await Catalog.load(join(project, 'data', 'models.json'));
  expect(catalog.warnings).toEqual([]);
  const files = catalog.entries.flatMap(({ variants }) => variants);
  const present = files.filter(({ file }) => file !== undefined && existsSync(catalog.resolveFile(file)));
  expect(present.length).toBeGreaterThan(0);
  for (const { file = '', size_bytes, sha256 } of present) {
    const path = catalog.resolveFile(file);
    expect(size_bytes ?? statSync(path).size, file).toBe(statSync(path).size);
    const found = createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(sha256?.toLowerCase() ?? found, file).toBe(found);
  }
});
