// `npm test`: sets everything up on a fresh clone, runs checks and tests, and ends with `N passed, N failed`.
// `npm run test:all` runs the long ones too; `npm run test:rest` these alone.
// node scripts/test.mjs [--tier test|rest|all] [--only GROUPS] [--since REV] [part of the name of a vitest file or of a native test ...]
import { parseArgs } from 'node:util';
import { budgetOf, excessOf, measureSlowness } from './testing/budgets.mjs';
import { groups, groupsOf, tiers } from './testing/groups.mjs';
import { changedFiles, Reach } from './testing/since.mjs';
import { crashTools } from './tool/crash-tools.mjs';
import { buildNative } from './tool/native-build.mjs';
import { formatTime, phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { installPackages, requireNode } from './tool/setup.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('test', async (args) => {
  const { values, positionals: filters } = parseArgs({
    args,
    options: {
      tier: { type: 'string', default: 'test' },
      only: { type: 'string' },
      since: { type: 'string' },
    },
    allowPositionals: true,
  });
  const only = chosenGroups(values, filters);
  const reach = values.since === undefined ? undefined : reachSince(values.since);
  const slowness = await measureSlowness();
  if (slowness > 1.2)
    process.stdout.write(`this machine is ${slowness.toFixed(1)} times slower than budgets assume\n`);
  const total = { passed: 0, failed: 0, skipped: 0, failures: [], times: [] };
  for (const step of steps(only, reach)) {
    await runStep(step, { filters, reach, slowness }, total);
    if (step.required && total.failed > 0) break;
  }
  printSummary(total);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
});

/** The names of the groups to run. A name of a file belongs to vitest, so it selects that group unless another was asked for. */
function chosenGroups({ tier, only }, filters) {
  if (!tiers.includes(tier)) throw new Stop(`--tier ${tier}: ${tiers.join(', ')} are expected`);
  const chosen = only?.split(',') ?? (filters.length > 0 ? ['ts'] : groupsOf(tier));
  const unknown = chosen.find((group) => !(group in groups));
  if (unknown !== undefined)
    throw new Stop(`--only ${unknown}: ${Object.keys(groups).join(', ')} are expected`);
  if (filters.length > 0 && !chosen.some((group) => groups[group].named))
    throw new Stop(`${filters[0]}: names select tests, and --only ${chosen.join(',')} has none`);
  return chosen;
}

function reachSince(revision) {
  const reach = new Reach(changedFiles(revision, root), root);
  const because = reach.everythingBecauseOf;
  process.stdout.write(`${reach.changed.length} files differ from ${revision}`);
  process.stdout.write(because === undefined ? '\n' : `; everything runs, because of ${because}\n`);
  return reach;
}

/**
 * Each step runs to {passed, failed, skipped, failures}, with a line in `failures` for each failed test, or to {leftOut}, the
 * reason why it has nothing to do. After a failed `required` step there is no point in going on.
 */
function steps(only, reach) {
  const isReached = (group) => reach === undefined || !groups[group].ofPackage || reach.reachesPackage;
  const leftOut = only.filter((group) => !isReached(group));
  if (leftOut.length > 0) process.stdout.write(`not reached, left out: ${leftOut.join(', ')}\n`);
  const run = only.filter(isReached);
  return [
    { name: 'set-up', required: true, run: () => setUp(run) },
    ...Object.keys(groups)
      .filter((group) => run.includes(group))
      .flatMap((group) => groups[group].steps),
  ];
}

async function setUp(only) {
  requireNode();
  await installPackages();
  const loadsAddon = only.some((group) => groups[group].addon);
  if (loadsAddon) await buildNative('native');
  else await phase('vendor', () => vendor());
  // The types of the tests refer to those in dist/.
  if (loadsAddon || only.includes('checks')) await phase('typescript', compileTypeScript);
  if (only.includes('ts') && process.platform === 'linux')
    await phase('crash tools', async () => void (await crashTools()));
  return { passed: 1 };
}

async function runStep(step, { slowness, ...context }, total) {
  process.stdout.write(`\n== ${step.name}\n`);
  const budget = budgetOf(step.name, slowness);
  const begin = performance.now();
  const result = await step.run(context).catch((error) => {
    process.stdout.write(`${error instanceof Stop ? error.message : error.stack}\n`);
    return { failed: 1, failures: [`${step.name}: ${error.message}`] };
  });
  const took = performance.now() - begin;
  const { passed = 0, skipped = 0, leftOut } = result;
  let { failed = 0, failures = [] } = result;
  if (failed > 0 && failures.length === 0) failures = [step.name];
  const fail = (reason) => {
    failed++;
    failures = [...failures, `${step.name}: ${reason}`];
    process.stdout.write(`${reason}\n`);
  };
  if (leftOut) process.stdout.write(`${leftOut}\n`);
  // A step that ran nothing has proven nothing.
  else if (passed + failed === 0) fail('nothing ran');
  const excess = await excessOf(step.name, took, slowness);
  if (excess > 0)
    fail(`${formatTime(took)} are ${formatTime(excess)} more than its budget (scripts/testing/budgets.mjs)`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  total.failures.push(...failures);
  const time = `${formatTime(took)} of ${formatTime(budget)}`;
  total.times.push(`${time.padStart(26)}  ${step.name}`);
  process.stdout.write(
    `== ${step.name}: ${failed === 0 ? 'ok' : 'FAILED'}, ${passed} ok, ${failed} not ok, ${skipped} left out (${time})\n`,
  );
}

/** Last, since of a long run often only the end is kept. */
function printSummary({ passed, failed, skipped, failures, times }) {
  process.stdout.write(`\nTime of each step, and its budget:\n${times.join('\n')}\n`);
  if (failures.length > 0) process.stdout.write(`\nFailed:\n  ${failures.join('\n  ')}\n`);
  process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
}
