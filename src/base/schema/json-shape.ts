import { visit } from 'jsonc-parser';
import { fieldPath } from './field-path.js';

/** Deepest nesting, the same as for records files. */
const deepest = 64;

/** A defect of a JSON text. */
export interface ShapeProblem {
  /** `:line:column`, or nothing if it concerns the whole text. */
  place: string;
  position?: { line: number; column: number };
  what: string;
}

/**
 * Reports defects that JSON.parse accepts: nesting deep enough to overflow recursive code, and duplicate keys (JSON.parse
 * silently keeps the last one). Returns undefined if there are none.
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
        const position = { line: line + 1, column: character + 1 };
        const place = `:${position.line}:${position.column}`;
        wrong ??= { place, position, what: `${fieldPath([...path(), name])}: occurs twice` };
      }
      names?.add(name);
    },
  });
  return wrong;
}

/** The largest number of brackets open at a time, outside strings. */
function nesting(text: string): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  // No regular expression: one that matches a string of millions of escapes runs out of stack.
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') inString = !inString;
    else if (inString && character === '\\') at++;
    else if (inString) continue;
    else if (character === '[' || character === '{') most = Math.max(most, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return most;
}
