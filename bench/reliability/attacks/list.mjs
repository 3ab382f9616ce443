import { amplificationAttacks } from './amplification.mjs';
import { fairnessAttacks } from './fairness.mjs';
import { memoryAttacks } from './memory.mjs';

export const attackList = [...memoryAttacks, ...fairnessAttacks, ...amplificationAttacks];
