import { amplificationAttacks } from './amplification.mjs';
import { contentAttacks } from './contents.mjs';
import { doorContentAttacks } from './door-contents.mjs';
import { doorAttacks } from './doors.mjs';
import { fairnessAttacks } from './fairness.mjs';
import { heldAttacks } from './held.mjs';
import { manyAttacks } from './many.mjs';
import { memoryAttacks } from './memory.mjs';
import { neighbourAttacks } from './neighbours.mjs';
import { nodeAttacks } from './nodes.mjs';
import { oddContentAttacks } from './odd-contents.mjs';
import { optionAttacks } from './options.mjs';
import { pageAttacks } from './page.mjs';
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
  ...doorAttacks,
  ...doorContentAttacks,
  ...neighbourAttacks,
  ...manyAttacks,
  ...oddContentAttacks,
  ...pageAttacks,
];
