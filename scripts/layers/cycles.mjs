/**
 * A way around that imports make: its files in turn, the first one again at the end. Undefined where there is none.
 * `imports`: the imported files of each file.
 */
export function findCycle(imports) {
  const done = new Set();
  const way = [];
  const visit = (file) => {
    if (done.has(file)) return undefined;
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    way.push(file);
    for (const next of imports.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    way.pop();
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}
