// `npm run test:gpu`: proofs and measurements on a machine with a GPU of NVIDIA (docs/internals/building.md).
//   node scripts/test-gpu.mjs pack        packs .gpu/part-*, which that machine needs beside the tracked files; there: sh scripts/gpu/run.sh
//   node scripts/test-gpu.mjs --rehearse [llvmpipe|stand-in]   packs, and runs all of that without a GPU in a fresh folder
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { pack } from './gpu/pack.mjs';
import { rehearse } from './gpu/rehearse.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('test-gpu', async ([mode = 'pack', device]) => {
  if (!['pack', '--rehearse'].includes(mode)) throw new Stop('say pack or --rehearse');
  const parts = await pack({ rehearsal: mode === '--rehearse' });
  for (const part of parts)
    console.log(`${relative(root, part)}: ${(statSync(part).size / 1024 / 1024).toFixed(1)} MiB`);
  if (mode === '--rehearse') await rehearse(parts, device);
  else
    console.log(
      'bring each part with the tracked files to the machine with the GPU; then, there: sh scripts/gpu/run.sh',
    );
});
