/** Characters shown of a key: an unknown key may be as long as a frame. */
const longestShownKey = 128;

/** `["graph", "nodes", 0]` becomes `graph.nodes[0]`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  let path = '';
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`;
    else path += `${path === '' ? '' : '.'}${String(key).slice(0, longestShownKey)}`;
  }
  return path;
}
