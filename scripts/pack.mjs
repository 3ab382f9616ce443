// The package without its model files: node scripts/pack.mjs --without-models [--to FOLDER]. With them, `npm pack` makes it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { npmCommand, run } from './tool/command.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const [npm, ...first] = npmCommand();

await runScript('pack', async (args) => {
  const { values } = parseArgs({
    args,
    options: { 'without-models': { type: 'boolean', default: false }, to: { type: 'string', default: '.' } },
  });
  if (!values['without-models'])
    throw new Stop('--without-models is expected; npm pack makes the whole package');
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-pack-'));
  try {
    const whole = await pack(root, folder);
    await run('tar', ['-xzf', join(folder, whole), '-C', folder], { quiet: true });
    const models = join(folder, 'package', 'data', 'models');
    for (const name of readdirSync(models)) if (name.endsWith('.gguf')) rmSync(join(models, name));
    console.log(join(resolve(values.to), await pack(join(folder, 'package'), resolve(values.to))));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Returns the archive's name in `to`. */
async function pack(folder, to) {
  const options = ['pack', folder, '--ignore-scripts', '--pack-destination', to];
  let last = '';
  await run(npm, [...first, ...options], { quiet: true, onLine: (line) => (last = line.trim() || last) });
  return last;
}
