import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ChangeLog } from '../../../lib/internal.js';
import {
  type EncodedBatch,
  encodedBatch,
  type LoggedOperation,
  type LogHeader,
} from '../../../src/knowledge/changes/frames.js';
import { ChangeLogWriter } from '../../../src/knowledge/changes/log-writer.js';
import type { FlushSetting } from '../../../src/knowledge/changes/public.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { random, testSeed } from '../../helpers/random.js';
import { repetitions } from '../../helpers/repetitions.js';
import { applied, type Step, TracedFiles } from './traced-files.js';

const file = temporaryFolder();
const dimension = 3;

function header(baseVersion = 0): LogHeader {
  const records = { size: 1, checksum: '00000000000000aa' };
  const id = randomBytes(8).toString('hex');
  return { id, dimension, records, model: '0000000000000001', baseVersion };
}

const put = (id: string, text: string): LoggedOperation => ({
  kind: 'put',
  id,
  json: JSON.stringify({ id, text }),
  vector: Float32Array.of(1, 2, 3),
});

async function read(content: Buffer, name = 'read.changes') {
  writeFileSync(file(name), content);
  await using log = await ChangeLog.read(file(name));
  await using changes = await log.fold({ after: 0, upTo: Number.MAX_SAFE_INTEGER }, undefined);
  return { ...log.facts, changed: changes.changed, removed: changes.removed };
}

test('batches are read back, and a later process continues the log', async () => {
  const path = file('kb.changes');
  const first = await ChangeLogWriter.create(path, header(7));
  await Promise.all([
    first.append(8, 1, await encodedBatch([put('a', 'one'), put('ä', 'two\n"quoted"')])),
    first.append(9, 2, await encodedBatch([{ kind: 'remove', id: 'a' }])),
  ]);
  await first.close();
  const found = await read(readFileSync(path));
  expect(found).toMatchObject({ baseVersion: 7, version: 9, changed: 1, removed: 1 });
  expect(found.damage).toBeUndefined();
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('half a batch')]));
  await using torn = await ChangeLog.read(path);
  expect(torn.facts).toMatchObject({ version: 9, damage: { torn: true } });
  const second = await ChangeLogWriter.continue(path, torn.facts);
  await second.append(10, 3, await encodedBatch([put('b', 'three')]));
  await second.close();
  expect(await read(readFileSync(path))).toMatchObject({ version: 10, changed: 2, removed: 1 });
});

test('a later process removes the log that a killed one had not put in place yet', async () => {
  const path = file('stray.changes');
  const first = await ChangeLogWriter.create(path, header());
  await first.append(1, 0, await encodedBatch([put('a', 'one')]));
  await first.close();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const stray = `${path}.${pid}-${randomUUID()}.tmp`;
  writeFileSync(stray, 'secret');
  await using log = await ChangeLog.read(path);
  await (await ChangeLogWriter.continue(path, log.facts)).close();
  expect(existsSync(stray)).toBe(false);
  // A process that is killed while it makes the first log leaves no log.
  writeFileSync(stray, 'secret');
  await (await ChangeLogWriter.create(path, header())).close();
  expect(existsSync(stray)).toBe(false);
});

test('batches that wait are flushed together', async () => {
  const files = new TracedFiles();
  const writer = await ChangeLogWriter.create('log', header(), { files });
  const batches: EncodedBatch[] = [];
  for (let n = 0; n < 50; n++) batches.push(await encodedBatch([put(`r${n}`, 'x')]));
  await Promise.all(batches.map((batch, n) => writer.append(n + 1, 0, batch)));
  expect(files.trace.filter(({ kind }) => kind === 'sync')).toHaveLength(1);
  expect((await read(files.content)).version).toBe(50);
});

test('a log that is damaged before batches that were durable is not continued', async () => {
  const path = file('damaged.changes');
  const writer = await ChangeLogWriter.create(path, header());
  await writer.append(1, 0, await encodedBatch([put('a', 'one')]));
  const at = writer.size;
  await writer.append(2, 0, await encodedBatch([put('b', 'two')]));
  await writer.append(3, 0, await encodedBatch([put('c', 'three')]));
  await writer.close();
  const bytes = readFileSync(path);
  bytes[at + 70] = (bytes[at + 70] as number) ^ 1;
  writeFileSync(path, bytes);
  await using log = await ChangeLog.read(path);
  expect(log.facts).toMatchObject({ version: 1, damage: { torn: false, at } });
  await expect(ChangeLogWriter.continue(path, log.facts)).rejects.toMatchObject({
    code: 'CORRUPT',
    detail: { file: path },
  });
  expect(readFileSync(path)).toEqual(bytes);
});

test('a log that starts anew keeps the batches behind a merge', async () => {
  const path = file('merged.changes');
  const writer = await ChangeLogWriter.create(path, header());
  await writer.append(1, 0, await encodedBatch([put('a', 'one')]));
  await writer.mark(1, 0, { size: 5, checksum: '00000000000000bb' });
  const merged = writer.size;
  await writer.append(2, 0, await encodedBatch([put('b', 'two')]));
  expect((await read(readFileSync(path))).merge).toEqual({
    size: 5,
    checksum: '00000000000000bb',
    version: 1,
  });
  await writer.restart(header(1), merged);
  await writer.append(3, 0, await encodedBatch([put('c', 'three')]));
  await writer.close();
  const found = await read(readFileSync(path));
  expect(found).toMatchObject({ baseVersion: 1, version: 3, changed: 2 });
  expect(found.merge).toBeUndefined();
});

/** Writes batches of several sizes one after the other, or in groups; marks what is acknowledged. */
async function writeAll(files: TracedFiles, flush: FlushSetting, next: () => number, batches: number) {
  const writer = await ChangeLogWriter.create('log', header(), { files, flush });
  let version = 0;
  while (version < batches) {
    const group = 1 + Math.floor(next() * 3);
    const encoded: { own: number; batch: EncodedBatch }[] = [];
    for (let n = 0; n < group; n++) {
      const own = ++version;
      const records = Array.from({ length: 1 + Math.floor(next() * 3) }, (_, at) =>
        put(`${own}.${at}`, `x${'y'.repeat(next() * 90)}`),
      );
      encoded.push({ own, batch: await encodedBatch(records) });
    }
    await Promise.all(
      encoded.map(async ({ own, batch }) => {
        await writer.append(own, 0, batch);
        files.trace.push({ kind: 'acknowledged', version: own });
      }),
    );
  }
  await writer.close();
}

/** Returns a file as a machine may find it: the steps before the last sync, and any of the writes after it, whole or in part. */
function afterPowerLoss(steps: readonly Step[], next: () => number): Buffer {
  const durable = steps.findLastIndex(({ kind }) => kind === 'sync' || kind === 'replace');
  let content: Buffer = Buffer.alloc(0);
  for (const [index, step] of steps.entries()) {
    if (index <= durable) content = applied(content, step);
    else if (next() < 0.5) content = applied(content, next() < 0.5 ? step : partOf(step, next));
  }
  return content;
}

function partOf(step: Step, next: () => number): Step {
  if (step.kind !== 'write') return step;
  const begin = Math.floor(next() * step.bytes.length);
  return { ...step, at: step.at + begin, bytes: step.bytes.subarray(begin) };
}

for (const flush of ['always', 'never'] as const) {
  test(`power loss after any step of a trace, flush ${flush}: no batch is there in part`, async () => {
    console.log(`seed ${testSeed}`);
    const next = random(testSeed);
    const files = new TracedFiles();
    await writeAll(files, flush, next, 60);
    for (let length = 1; length <= files.trace.length; length++) {
      const steps = files.trace.slice(0, length);
      const acknowledged = steps.findLast((step) => step.kind === 'acknowledged')?.version ?? 0;
      for (let round = 0; round < 4; round++) {
        const found = await read(afterPowerLoss(steps, next));
        expect(found.damage?.torn ?? true, `step ${length}`).toBe(true);
        if (flush === 'always') expect(found.version).toBeGreaterThanOrEqual(acknowledged);
      }
    }
  });
}

test('failing writes, flushes and cuts: every acknowledged batch is in the log, no refused one, and later batches are taken', async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  for (let round = 0; round < 200; round++) {
    const files = new TracedFiles();
    const own = header();
    const writer = await ChangeLogWriter.create('log', own, { files });
    files.fault = () => {
      if (next() < 0.8) return undefined;
      return next() < 0.5 ? { code: 'EIO' } : { code: 'ENOSPC', partial: Math.floor(next() * 60) };
    };
    let version = 0;
    let refused = 0;
    for (let batch = 0; batch < 20; batch++) {
      const operations = [put(`r${batch}`, `x${'y'.repeat(next() * 50)}`)];
      await writer.append(version + 1, 0, await encodedBatch(operations)).then(
        () => version++,
        (error) => {
          refused++;
          expect(error).toMatchObject({
            code: 'IO',
            message: expect.stringContaining('the change is refused'),
          });
        },
      );
    }
    files.fault = () => undefined;
    await writer.append(++version, 0, await encodedBatch([put('last', 'x')]));
    const found = await read(files.content);
    expect(found).toMatchObject({ version, changed: version });
    expect(found.damage).toBeUndefined();
    expect(refused).toBeGreaterThan(0);
  }
});

test('after a failed flush in the background the bytes are written again', async () => {
  const files = new TracedFiles();
  const errors: unknown[] = [];
  const told = new Promise<void>((resolve) => {
    files.fault = (call) => (call === 'sync' && errors.length === 0 ? { code: 'EIO' } : undefined);
    ChangeLogWriter.create('log', header(), {
      files,
      flush: 1,
      onError: (error) => {
        errors.push(error);
        resolve();
      },
    }).then(async (writer) => {
      await writer.append(1, 0, await encodedBatch([put('a', 'one')]));
      await told;
      await writer.append(2, 0, await encodedBatch([put('b', 'two')]));
      await writer.close();
      files.trace.push({ kind: 'acknowledged', version: 2 });
    });
  });
  await told;
  await expect.poll(() => files.trace.at(-1)).toEqual({ kind: 'acknowledged', version: 2 });
  expect(errors).toMatchObject([{ code: 'IO' }]);
  const writes = files.trace.filter((step) => step.kind === 'write');
  expect(writes.filter(({ at }) => at === writes[0]?.at)).toHaveLength(2);
  expect((await read(files.content)).version).toBe(2);
});

const mutations = repetitions('LOG_MUTATIONS', 400, 20_000);

test(`${mutations} mutations of a log are errors or give a prefix of its batches`, async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  const files = new TracedFiles();
  await writeAll(files, 'always', next, 12);
  const whole = files.content;
  const below = (bound: number) => Math.floor(next() * bound);
  for (let round = 0; round < mutations; round++) {
    let bytes = Buffer.from(whole);
    const at = below(bytes.length);
    if (next() < 0.3) bytes = bytes.subarray(0, at);
    else if (next() < 0.5) bytes[at] = (bytes[at] as number) ^ (1 << below(8));
    else bytes.fill(next() < 0.5 ? 0 : 255, at, Math.min(bytes.length, at + below(100)));
    const found = await read(bytes).catch((error) => error);
    if (found instanceof Error)
      expect(['CORRUPT', 'UNSUPPORTED']).toContain((found as { code?: string }).code);
    else if (!bytes.equals(whole.subarray(0, bytes.length))) expect(found.damage).toBeDefined();
  }
}, 900_000);
