import { visit } from 'jsonc-parser';
import { fieldPath } from './field-issue.js';

/** As deep as a records file may be nested. */
const deepest = 64;

/** What is wrong with a JSON text, and where: `:line:column`, or nothing where it is wrong as a whole. */
export interface ShapeProblem {
  place: string;
  what: string;
}

/**
 * What is wrong with a JSON text that JSON.parse takes: nested so deeply that what walks it would run out of stack, or a key
 * twice in one object, of which JSON.parse drops the first in silence. Undefined when nothing is.
 */
export function checkJsonShape(text: string): ShapeProblem | undefined {
  if (nesting(text) > deepest) return { place: '', what: `nested deeper than ${deepest} levels` };
  const open: Set<string>[] = [];
  let wrong: ShapeProblem | undefined;
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectEnd: () => {
      open.pop();
    },
    onObjectProperty: (name, _offset, _length, line, character, path) => {
      const names = open.at(-1);
      if (names?.has(name)) {
        const place = `:${line + 1}:${character + 1}`;
        wrong ??= { place, what: `${fieldPath([...path(), name])}: occurs twice` };
      }
      names?.add(name);
    },
  });
  return wrong;
}

/** Most brackets that are open at a time, outside of strings. */
function nesting(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{\]}]/gs)) {
    if (token === '[' || token === '{') most = Math.max(most, ++depth);
    else if (token === ']' || token === '}') depth--;
  }
  return most;
}
