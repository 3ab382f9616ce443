import { type Node, parseTree } from 'jsonc-parser';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** Whether objects of a JSON text have keys several times; `value` has each once. */
export function hasRepeatedKeys(text: string, value: unknown): boolean {
  return colonsIn(text) > keysIn(value);
}

/** Counts the colons outside strings: each follows a key. */
function colonsIn(text: string): number {
  let [count, inString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) inString = !inString;
    else if (inString && code === backslash) at++;
    else if (!inString && code === colon) count++;
  }
  return count;
}

/** @throws RangeError for a value that is nested too deeply */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += keysIn(item);
  else for (const item of Object.values(value)) count += 1 + keysIn(item);
  return count;
}

/**
 * Parses JSON, also with trailing commas. The values of a key that an object has several times become a list; lists among them
 * are a part of it. @throws RangeError for a value that is nested too deeply
 */
export function parseWithRepeatedKeys(text: string): unknown {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return tree === undefined ? undefined : valueOfNode(tree);
}

function valueOfNode({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(valueOfNode);
  if (type !== 'object') return value;
  const found = new Map<string, unknown[]>();
  for (const { children: [key, item] = [] } of children) {
    if (key === undefined || item === undefined) continue;
    const values = found.get(key.value);
    if (values === undefined) found.set(key.value, [valueOfNode(item)]);
    else values.push(valueOfNode(item));
  }
  return Object.fromEntries(
    [...found].map(([key, values]) => [key, values.length === 1 ? values[0] : values.flat()]),
  );
}
