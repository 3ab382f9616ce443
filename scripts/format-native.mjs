// clang-format for our own C++ and C, from an npm package, so that every machine has the same version of it.
// node scripts/format-native.mjs --check | --write [file ...]
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './tool/project.mjs';
import { sourceFiles } from './tool/sources.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('format-native', async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { check: { type: 'boolean' }, write: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const { format } = await import('@wasm-fmt/clang-format');
  const style = readFileSync(join(root, '.clang-format'), 'utf8');
  const files =
    positionals.length > 0
      ? positionals.map((file) => relative(root, resolve(file)))
      : [
          ...sourceFiles(root, ['native', 'test/native'], ['.cc', '.h']),
          ...sourceFiles(root, ['clients/c/parts', 'clients/c/test', 'examples/game'], ['.c', '.h']),
        ].filter((file) => !file.includes('.gen.'));
  if (files.length === 0) throw new Stop('no C++ file was seen');
  const changed = files.filter((file) => !isFormatted(file, style, format, values.write));
  if (values.check && changed.length > 0) {
    for (const file of changed) process.stdout.write(`${file} is not formatted\n`);
    throw new Stop(`${changed.length} of ${files.length} files; \`npm run format\` mends them`);
  }
  process.stdout.write(
    `format-native: ${files.length} files${changed.length > 0 ? `, ${changed.length} rewritten` : ' are formatted'}\n`,
  );
});

function isFormatted(file, style, format, write) {
  const path = join(root, file);
  const before = readFileSync(path, 'utf8');
  const after = format(before, file, style);
  if (before === after) return true;
  if (write) writeFileSync(path, after);
  return false;
}
