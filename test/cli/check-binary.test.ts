import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const model = join(import.meta.dirname, '../../data/models/lorekeep-mini.gguf');
let built: Promise<string> | undefined;

/** Path of a knowledge base with its index files. */
function builtSample(): Promise<string> {
  const build = async () => {
    const kb = writeSample(inFolder, { embeddings_file: 'kb.embeddings' });
    expect((await lorekeep(['build', kb])).status).toBe(0);
    return kb;
  };
  built ??= build();
  return built;
}

/** A copy of a file with some bytes changed. */
function damaged(name: string, edit: (bytes: Buffer) => Buffer): string {
  const path = inFolder(`damaged-${name}`);
  writeFileSync(path, edit(readFileSync(inFolder(name))));
  return path;
}

describe('lorekeep check, of files that lorekeep makes', () => {
  it('describes the files of a knowledge base with --all', async () => {
    const { status, stdout } = await lorekeep(['check', await builtSample(), '--all']);
    expect(status).toBe(0);
    expect(stdout.match(/^ +rows +6$/gm)).toHaveLength(3);
    expect(stdout).toMatch(/^ +tokenizer +enhanced$/m);
    expect(stdout.match(/checksums +right \(\d+ sections\)/g)).toHaveLength(3);
    for (const name of ['section 1', 'textsFingerprint', 'recordsFileChecksum'])
      expect(stdout).toMatch(new RegExp(`^ +${name} `, 'm'));
    expect(stdout).toMatch(/^kb\.json: knowledge base, 6 records: ok$/m);
    const json = JSON.parse((await lorekeep(['check', inFolder('kb.json'), '--all', '--json'])).stdout);
    expect(json).toMatchObject({ ok: true, config: { bm25_tokenizer: 'enhanced' } });
    expect(json.files.map(({ kind }: { kind: string }) => kind)).toEqual([
      'index',
      'text index',
      'embeddings',
    ]);
  });

  it('lists the sections of a file with --all only, and compares no checksum with --no-verify', async () => {
    await builtSample();
    const index = inFolder('kb.index');
    expect((await lorekeep(['check', index])).stdout).not.toMatch(/^section /m);
    expect((await lorekeep(['check', index, '--all'])).stdout).toMatch(/^section 1 /m);
    const { stdout } = await lorekeep(['check', index, '--no-verify']);
    expect(stdout).toMatch(/^checksums +unchecked \(\d+ sections\)$/m);
  });

  it('describes index files, text index files, embeddings and models', async () => {
    await builtSample();
    const [index, words, embeddings, gguf] = await Promise.all(
      [inFolder('kb.index'), inFolder('kb.bm25'), inFolder('kb.embeddings'), model].map(async (path) =>
        JSON.parse((await lorekeep(['check', path, '--json'])).stdout),
      ),
    );
    expect(index).toMatchObject({ ok: true, kind: 'index', rows: 6, dimension: 512 });
    expect(words).toMatchObject({ ok: true, kind: 'text index', rows: 6, tokenizer: 'enhanced' });
    expect(embeddings).toMatchObject({ ok: true, kind: 'embeddings', rows: 6, dimension: 512 });
    expect(gguf).toMatchObject({
      ok: true,
      kind: 'model',
      architecture: 'bert',
      poolingType: 1,
      fileType: 25,
      quantisation: 'IQ4_NL',
      vocabulary: expect.any(Number),
      embedding: { dimension: 512 },
    });
    expect(gguf.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('names a missing part of a split model', async () => {
    const first = inFolder('one-00001-of-00002.gguf');
    writeFileSync(first, readFileSync(model));
    const { status, stdout, stderr } = await lorekeep(['check', first]);
    expect(status, stderr).toBe(1);
    expect(stdout).toMatch(/^error: .*: part 2 of 2 is missing: one-00002-of-00002\.gguf$/m);
    expect(stdout).toMatch(/^parts_sha256\[0\] +[0-9a-f]{64}$/m);
  });

  it('says what is damaged, and exits with 1', async () => {
    await builtSample();
    const flipped = damaged('kb.index', (bytes) => {
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 100) ^ 255, bytes.length - 100);
      return bytes;
    });
    const cut = damaged('kb.bm25', (bytes) => bytes.subarray(0, bytes.length / 2));
    const gguf = inFolder('cut.gguf');
    writeFileSync(gguf, readFileSync(model).subarray(0, 5000));
    const results = await Promise.all([flipped, cut, gguf].map((path) => lorekeep(['check', path])));
    for (const [at, { status, stdout }] of results.entries()) {
      expect(status).toBe(1);
      const errors = stdout.match(/^error: .*$/gm) ?? [];
      expect(errors).toHaveLength(1);
      expect(errors[0]?.split([flipped, cut, gguf][at] as string), 'the path comes once').toHaveLength(2);
    }
    expect(results[0]?.stdout).toMatch(/checksum/);
    expect(results[2]?.stdout).toMatch(/^error: .*: truncated or damaged: .* at offset \d+ needs/m);
  });

  it('says what it does not know, and what is not built yet', async () => {
    const unknown = inFolder('photo.jpg');
    writeFileSync(unknown, Buffer.from([255, 216, 255, 224, 0]));
    const other = await lorekeep(['check', unknown]);
    expect(other.status).toBe(1);
    expect(other.stderr).toContain('is neither a JSON file nor a file of lorekeep, hnswlib or GGUF');
    const fresh = inFolder('fresh.json');
    writeFileSync(
      fresh,
      JSON.stringify({ ...JSON.parse(readFileSync(await builtSample(), 'utf8')), index_file: 'later.index' }),
    );
    const { stdout } = await lorekeep(['check', fresh, '--all']);
    expect(stdout).toMatch(/later\.index.*build it: lorekeep build/);
  });
});
