import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const shippedCatalog = join(import.meta.dirname, '../../data/models.json');

function file(name: string, content: unknown): string {
  const path = inFolder(name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('lorekeep check', () => {
  it('tells knowledge bases, configs, catalogs and records apart by their content', async () => {
    const kb = writeSample(inFolder, { index_file: undefined });
    const cases: [string, string][] = [
      [kb, 'knowledge base, 6 records: ok'],
      [inFolder('records.json'), 'records file, 6 records: ok'],
      [file('settings.json', { port: 9101, models_catalog_path: shippedCatalog }), 'server config: '],
      [shippedCatalog, 'model catalog, '],
    ];
    const results = await Promise.all(cases.map(([path]) => lorekeep(['check', path])));
    for (const [index, { status, stdout }] of results.entries()) {
      expect(stdout).toContain(cases[index]?.[1]);
      expect(status).toBe(0);
    }
  });

  it('says what a server config opens to clients, and what a server would warn of', async () => {
    file('a-file', '');
    const config = {
      models_catalog_path: shippedCatalog,
      storage_root: 'a-file',
      network_access: 'local_network',
    };
    const { status, stdout } = await lorekeep(['check', file('open.json', config)]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /warning: .*open\.json: storage_root: .*a-file is a file: no knowledge base is found/,
    );
    expect(stdout).toMatch(/warning: .*open\.json: access_token_file: the server listens on the network/);
    expect(stdout).toMatch(/note: clients on the local network may read storages and text files in .*a-file/);
    const absent = await lorekeep([
      'check',
      file('open.json', { ...config, storage_root: 'gone' }),
      '--json',
    ]);
    expect(JSON.parse(absent.stdout).findings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('gone does not exist') }),
    );
  });

  it('lists the mistakes of records with their places, the first 20, and exits with 1', async () => {
    const kb = writeSample(inFolder, { index_file: undefined });
    const records = Array.from({ length: 30 }, (_, i) => ({ id: `r${i}`, text: i % 2 ? 'good' : 7 }));
    file('records.json', records);
    const { status, stdout } = await lorekeep(['check', kb]);
    expect(status).toBe(1);
    expect(stdout.match(/record \d+/g)?.length).toBeGreaterThanOrEqual(15);
    expect(stdout).toMatch(/text/);
    expect(stdout).toMatch(/^kb\.json: knowledge base: 15 errors, 0 warnings\n$/m);
    const { stdout: json } = await lorekeep(['check', '--json', kb]);
    expect(JSON.parse(json).findings[0].mistakes).toBe(15);
    file('records.json', [...records, ...records]);
    const more = await lorekeep(['check', kb]);
    expect(more.stdout).toMatch(
      /^ {2}and more\nkb\.json: knowledge base: more than 20 errors, 0 warnings\n$/m,
    );
  });

  it('goes on after a mistake: model, index and words are all told', async () => {
    const kb = writeSample(inFolder, {
      embedding_model: 'lorekeep-mni',
      indx_file: 'x',
      index_file: 'kb.index',
    });
    file('kb.index', 'this is not an index');
    const { status, stdout } = await lorekeep(['check', kb]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/error: .*"lorekeep-mni"; did you mean "lorekeep-mini"\?/);
    expect(stdout).toMatch(/warning: .*indx_file.*did you mean "index_file"/);
  });

  it('names line and column of broken JSON, and keys and types of a config', async () => {
    const comma = file('comma.json', '{\n  "port": 1,\n}');
    const wrong = file('server-config.json', { port: 'x', log_level: 'loud', prot: 1 });
    const results = await Promise.all([comma, wrong].map((path) => lorekeep(['check', path])));
    expect(results.map(({ status }) => status)).toEqual([1, 1]);
    expect(results[0]?.stderr).toMatch(/comma\.json:3:1: not valid JSON: a comma is not allowed/);
    const lines = await lorekeep(['check', file('records.jsonl', '{"id":"a"}\n{"id":"b"}\n')]);
    expect(lines.stderr).toMatch(/records\.jsonl:2:1: .*\(JSON Lines is read by lorekeep index and add\)/);
    expect(results[1]?.stdout).toMatch(/error: .*server-config\.json:1:\d+: port: /);
    expect(results[1]?.stdout).toMatch(/error: .*log_level: /);
    expect(results[1]?.stdout).toMatch(/warning: .*prot: .*did you mean "port"/);
    expect(results[1]?.stdout).toMatch(/server config: 2 errors, 1 warning/);
  });

  it('compares the models of a catalog with their sizes and checksums', async () => {
    file('model.gguf', 'not much of a model');
    const model = (name: string, variant: object) => ({ name, model_type: 'embedding', variants: [variant] });
    const catalog = file('models.json', {
      version: 1,
      models: [
        model('short', { file: 'model.gguf', size_bytes: 5 }),
        model('other', { file: 'model.gguf', sha256: '0'.repeat(64) }),
        model('absent', { file: 'absent.gguf' }),
        model('unreadable', { file: 'model.gguf', size_bytes: 19 }),
      ],
    });
    const { status, stdout } = await lorekeep(['check', catalog]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/error: .*"short": .*it has 19 bytes, the catalog says 5/);
    expect(stdout).toMatch(/error: .*"other": .*its SHA-256 is/);
    expect(stdout).toMatch(/warning: .*"absent": .*does not exist/);
    expect(stdout).toMatch(/error: .*"unreadable": .*GGUF/);
    const server = file('server-config.json', { models_catalog_path: 'models.json' });
    expect((await lorekeep(['check', server])).status, 'a config whose catalog is wrong').toBe(1);
  });

  it('gives the findings as JSON', async () => {
    const { status, stdout } = await lorekeep(['check', file('server-config.json', { port: -1 }), '--json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'server-config',
      ok: false,
      findings: [{ severity: 'error' }],
    });
  });

  it('refuses what is no file of people, and what is not there', async () => {
    const cases: [string, string][] = [
      [file('binary', '\u0000\u0001\u0002'), 'is neither a JSON file nor a file of lorekeep'],
      [inFolder('absent.json'), 'the file does not exist'],
      [inFolder('.'), 'is a folder; a file is expected'],
      [file('empty.json', ''), 'the text is empty'],
    ];
    for (const [path, message] of cases) {
      const { status, stderr } = await lorekeep(['check', path]);
      expect(stderr).toContain(message);
      expect(status).toBe(1);
    }
  });
});
