import { fairnessAttacks } from './fairness.mjs';
import { memoryAttacks } from './memory.mjs';

export const attackList = [...memoryAttacks, ...fairnessAttacks];
