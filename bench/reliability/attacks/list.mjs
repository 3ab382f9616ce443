import { amplificationAttacks } from './amplification.mjs';
import { contentAttacks } from './contents.mjs';
import { fairnessAttacks } from './fairness.mjs';
import { heldAttacks } from './held.mjs';
import { memoryAttacks } from './memory.mjs';
import { nodeAttacks } from './nodes.mjs';
import { optionAttacks } from './options.mjs';
import { resultAttacks } from './results.mjs';

export const attackList = [
  ...memoryAttacks,
  ...fairnessAttacks,
  ...amplificationAttacks,
  ...heldAttacks,
  ...nodeAttacks,
  ...optionAttacks,
  ...resultAttacks,
  ...contentAttacks,
];
