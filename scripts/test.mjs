// `npm test`: sets everything up on a fresh clone, runs every check and test, and ends with `N passed, N failed`.
// npm test -- [--only checks,native,ts,package,soak] [part of the name of a vitest file or of a native test ...]
import { parseArgs } from 'node:util';
import { checks } from './testing/checks.mjs';
import { nativeTests } from './testing/native.mjs';
import { soak } from './testing/soak.mjs';
import { packageTests, typeScriptTests } from './testing/vitest.mjs';
import { crashTools } from './tool/crash-tools.mjs';
import { buildNative } from './tool/native-build.mjs';
import { formatTime, phase } from './tool/phase.mjs';
import { installPackages, requireNode } from './tool/setup.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';
import { vendor } from './vendor/vendor.mjs';

const groups = ['checks', 'native', 'ts', 'package', 'soak'];

await runScript('test', async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { only: { type: 'string' } },
    allowPositionals: true,
  });
  // A file name belongs to vitest, so it selects that group unless another was asked for.
  const only = values.only?.split(',') ?? (positionals.length > 0 ? ['ts'] : groups);
  const unknown = only.find((group) => !groups.includes(group));
  if (unknown) throw new Stop(`--only ${unknown}: ${groups.join(', ')} are expected`);
  if (positionals.length > 0 && only.every((group) => group === 'checks' || group === 'soak')) {
    throw new Stop(`${positionals[0]}: names select tests, and --only ${only.join(',')} has none`);
  }
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const step of steps(only, positionals)) {
    await runStep(step, total);
    if (step.required && total.failed > 0) break;
  }
  // Last, since of a long run often only the end is kept.
  if (total.failures.length > 0) process.stdout.write(`\nFailed:\n  ${total.failures.join('\n  ')}\n`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
});

/**
 * Each step runs to {passed, failed, skipped, failures}, with a line in `failures` for each failed test. After a failed
 * `required` step there is no point in going on.
 */
function steps(only, filters) {
  const list = [{ name: 'set-up', required: true, run: () => setUp(only) }];
  if (only.includes('checks')) list.push(...checks);
  if (only.includes('native')) list.push(...nativeTests(filters));
  if (only.includes('ts')) list.push({ name: 'TypeScript tests', run: () => typeScriptTests(filters) });
  if (only.includes('package')) list.push(...packageTests(filters));
  if (only.includes('soak')) list.push(soak);
  return list;
}

async function setUp(only) {
  requireNode();
  await installPackages();
  const loadsAddon = ['ts', 'package', 'soak'].some((group) => only.includes(group));
  if (loadsAddon) await buildNative('native');
  else await phase('vendor', () => vendor());
  // The types of the tests refer to those in dist/.
  if (loadsAddon || only.includes('checks')) await phase('typescript', compileTypeScript);
  if (loadsAddon && process.platform === 'linux')
    await phase('crash tools', async () => void (await crashTools()));
  return { passed: 1 };
}

async function runStep(step, total) {
  process.stdout.write(`\n== ${step.name}\n`);
  const begin = performance.now();
  const result = await step.run().catch((error) => {
    process.stdout.write(`${error instanceof Stop ? error.message : error.stack}\n`);
    return { failed: 1, failures: [`${step.name}: ${error.message}`] };
  });
  const { passed = 0, failed = 0, skipped = 0, failures = [], leftOut } = result;
  if (leftOut) process.stdout.write(`${leftOut}\n`);
  // A step that ran nothing has proven nothing.
  const empty = passed + failed === 0 && !leftOut ? 1 : 0;
  if (empty) process.stdout.write('nothing ran\n');
  total.passed += passed;
  total.failed += failed + empty;
  total.skipped += skipped;
  total.failures.push(...(failed + empty > 0 && failures.length === 0 ? [step.name] : failures));
  const time = formatTime(performance.now() - begin);
  const status = failed + empty === 0 ? 'ok' : 'FAILED';
  process.stdout.write(
    `== ${step.name}: ${status}, ${passed} ok, ${failed + empty} not ok, ${skipped} left out (${time})\n`,
  );
}
