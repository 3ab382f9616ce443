import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const { canKeepFiles } = await import(new URL('../../scripts/tool/ccache.mjs', import.meta.url).href);
const inFolder = temporaryFolder();

/** What stands for ccache: it only tells where its folders are. */
function ccacheIn(folder: string): string {
  const path = inFolder('ccache');
  writeFileSync(path, `#!/bin/sh\necho '${folder}'\n`, { mode: 0o755 });
  return path;
}

test.skipIf(process.platform === 'win32')('ccache is used only where it can keep its files', () => {
  expect(canKeepFiles(ccacheIn(inFolder('cache', 'ccache')))).toBe(true);
  writeFileSync(inFolder('file'), '');
  expect(canKeepFiles(ccacheIn(inFolder('file', 'ccache')))).toBe(false);
  expect(canKeepFiles(inFolder('none'))).toBe(false);
});
