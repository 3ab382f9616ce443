// Brings the third-party sources of scripts/vendor/manifest.json into native/vendor/, which git ignores.
// node scripts/vendor.mjs [--manifest FILE] [--into FOLDER] [--force]
import { parseArgs } from 'node:util';
import { runScript } from './tool/stop.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('vendor', async (args) => {
  const { values } = parseArgs({
    args,
    options: { manifest: { type: 'string' }, into: { type: 'string' }, force: { type: 'boolean' } },
  });
  process.stdout.write(`vendor: ${await vendor(values)}\n`);
});
