import { campaign, soak } from './bench.mjs';
import { checks } from './checks.mjs';
import { everyFileByItself, longNativeTests, nativeTests, threadTests } from './native.mjs';
import { packageTests, smokeTest, wholePrebuild } from './packages.mjs';
import { benchTests, longForms, slowTests, typeScriptTests } from './vitest.mjs';

/**
 * The groups of `--only`, in the order in which they run. `tier`: `test` is what `npm test` runs, `rest` what
 * `npm run test:all` runs besides. `addon`: whether the addon must be there. `named`: whether names select tests of it.
 */
export const groups = {
  checks: { tier: 'test', steps: checks },
  native: { tier: 'test', steps: [nativeTests], named: true },
  ts: { tier: 'test', steps: [typeScriptTests], addon: true, named: true },
  smoke: { tier: 'test', steps: [smokeTest], addon: true, ofPackage: true },
  threads: { tier: 'rest', steps: [threadTests], named: true },
  alone: { tier: 'rest', steps: [everyFileByItself] },
  slow: { tier: 'rest', steps: [slowTests], addon: true },
  long: { tier: 'rest', steps: [longForms, longNativeTests], addon: true },
  bench: { tier: 'rest', steps: [benchTests, campaign, soak], addon: true, ofPackage: true },
  package: { tier: 'rest', steps: [wholePrebuild, packageTests], addon: true, named: true, ofPackage: true },
};

export const tiers = ['test', 'rest', 'all'];

/** The names of the groups of a tier. */
export const groupsOf = (tier) =>
  Object.keys(groups).filter((name) => tier === 'all' || groups[name].tier === tier);
