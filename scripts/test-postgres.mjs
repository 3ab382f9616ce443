// `npm run test:postgres [-- PART OF A FILE'S NAME ...]`: the tests of the engine `postgres`, which `npm test` runs in PGlite, with a real
// PostgreSQL. Starts two of its own, as an ordinary user, and stops them.
import { parseArgs } from 'node:util';
import { Cluster } from './postgres/cluster.mjs';
import { postgresWithVectors } from './postgres/program.mjs';
import { testsThatImport } from './testing/import-graph.mjs';
import { vitest } from './testing/vitest.mjs';
import { buildNative } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';

const helper = 'test/helpers/postgres.ts';

await runScript('test-postgres', async (args) => {
  const { positionals: filters } = parseArgs({ args, allowPositionals: true });
  await buildNative('native');
  await phase('typescript', compileTypeScript);
  let programs;
  await phase('pgvector', async () => {
    programs = await postgresWithVectors();
    return programs;
  });
  const cluster = await Cluster.start(programs);
  let second;
  try {
    second = await Cluster.start(programs);
    const files = testsThatImport(root, helper).filter(
      (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
    );
    const env = {
      LOREKEEP_TEST_POSTGRES: cluster.address,
      LOREKEEP_TEST_POSTGRES_CA: cluster.authority,
      LOREKEEP_TEST_POSTGRES_SECOND: second.address,
      LOREKEEP_TEST_HOSTILE: '10000',
    };
    const { passed, failed, skipped, failures } = await vitest('real-postgres', files, env);
    for (const failure of failures) process.stdout.write(`${failure}\n`);
    if (failed > 0) process.stdout.write(`\n${cluster.log.split('\n').slice(-40).join('\n')}\n`);
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    if (failed > 0 || passed === 0) process.exitCode = 1;
  } finally {
    await second?.stop();
    await cluster.stop();
  }
});
