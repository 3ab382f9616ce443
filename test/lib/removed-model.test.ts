import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert, tinyDecoder } from '../helpers/models.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { splitModel } from '../helpers/split-model.js';

const folder = temporaryFolder();
const children = join(import.meta.dirname, 'children');
const run = promisify(execFile);

/** Compiles the library that removes a file between its two openings; undefined where that cannot be done. */
async function removing(): Promise<string | undefined> {
  const library = folder('remove-when-opened.so');
  const source = join(children, 'remove-when-opened.c');
  if (process.platform !== 'linux') return undefined;
  return run('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).then(
    () => library,
    () => undefined,
  );
}

/** Returns the error of a load during which `removed` is removed, or replaced. */
async function loadError(
  library: string,
  kind: string,
  file: string,
  options: object,
  { removed = file, replacement }: { removed?: string; replacement?: string } = {},
) {
  const env = {
    ...process.env,
    LD_PRELOAD: library,
    LOREKEEP_REMOVED: removed,
    ...(replacement && { LOREKEEP_REPLACEMENT: replacement }),
  };
  const child = join(children, 'load-removed.mjs');
  const { stdout } = await run(process.execPath, [child, kind, file, JSON.stringify(options)], { env });
  return JSON.parse(stdout);
}

const removal = (file: string) => {
  const reason = 'the file was removed while it was loaded';
  return {
    code: 'NOT_FOUND',
    message: expect.stringContaining(`${file}: ${reason}`),
    detail: { file, reason },
  };
};

for (const [kind, options, model] of [
  ['EmbeddingModel', {}, tinyBert],
  ['EmbeddingModel', { runtime: 'llama.cpp' }, tinyBert],
  ['LanguageModel', { runtime: 'llama.cpp' }, () => tinyDecoder({ pooling: null })],
  ['LanguageModel', { runtime: 'decoder' }, () => tinyDecoder({ pooling: null })],
  ['LanguageModel', {}, () => tinyDecoder({ pooling: null })],
  ['Reranker', {}, () => tinyReranker('one-layer')],
] as const) {
  it(`a file removed while ${kind} loads it is NOT_FOUND, with ${JSON.stringify(options)}`, async (test) => {
    const library = await removing();
    if (library === undefined) return test.skip('removing a file between two openings needs Linux and cc');
    const file = folder(`${kind}-${'runtime' in options ? options.runtime : 'any'}.gguf`);
    copyFileSync(await model(), file);
    expect(await loadError(library, kind, file, options)).toMatchObject(removal(file));
  });

  // llama.cpp would read the vocabulary of one file, and lorekeep the weights of another.
  it(`a file replaced while ${kind} loads it is CORRUPT, with ${JSON.stringify(options)}`, async (test) => {
    const library = await removing();
    if (library === undefined) return test.skip('replacing a file between two openings needs Linux and cc');
    const name = `${kind}-${'runtime' in options ? options.runtime : 'any'}`;
    const [file, replacement] = [folder(`${name}-replaced.gguf`), folder(`${name}-new.gguf`)];
    copyFileSync(await model(), file);
    copyFileSync(await other(kind), replacement);
    expect(await loadError(library, kind, file, options, { replacement })).toMatchObject({
      code: 'CORRUPT',
      message: `${file}: it was replaced by another file while it was read; load it again`,
      detail: { path: file, reason: 'changed' },
    });
  });
}

/** Returns another model of the same kind. */
function other(kind: string): Promise<string> {
  if (kind === 'EmbeddingModel') return tinyBert({ seed: 5 });
  return kind === 'Reranker' ? tinyReranker('two-layer') : tinyDecoder({ pooling: null, seed: 5 });
}

it('a part of a split model that is removed while it is loaded is named', async (test) => {
  const library = await removing();
  if (library === undefined) return test.skip('removing a file between two openings needs Linux and cc');
  const [first, second] = splitModel(await tinyBert(), folder('parts'), 2) as [string, string];
  expect(
    await loadError(library, 'EmbeddingModel', first, { runtime: 'llama.cpp' }, { removed: second }),
  ).toMatchObject(removal(second));
});
