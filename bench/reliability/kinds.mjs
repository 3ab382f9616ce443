// The kinds of trouble that the campaign makes. Each has
//
//   name, what   for people
//   aim          how many it is meant to try, in all
//   short, long  {count, minutes}: what it tries by default, and when it ends early
//   run({folder, seed, count, until, short, say})  gives outcomes:
//     {case, unit, tried, problems: [text], crashes, hangs, outside, starved, counts, note} or {case, skipped: reason}
//     `counts`: further numbers by name, summed when runs are added; `note`: a text about this run alone.
//     Each crash, hang, read outside and starved client is a problem, too; the others are wrong answers or wrong states.
import { attacks } from './attacks/attacks.mjs';
import { escapes } from './escapes/escapes.mjs';
import { fields } from './fields/fields.mjs';
import { files } from './files/files.mjs';
import { frames } from './frames/frames.mjs';
import { heap } from './heap/heap.mjs';
import { kills } from './kills/kills.mjs';
import { machine } from './machine/machine.mjs';
import { readers } from './readers/readers.mjs';

export const kinds = [kills, files, frames, fields, escapes, attacks, heap, readers, machine];
export const kindNames = kinds.map(({ name }) => name);
