// What attacks are made of.

export const times = (text, count) => text.repeat(count);
export const list = (count, itemOf) => Array.from({ length: count }, (_, n) => itemOf(n));
export const of = (all, n) => all[n % all.length];
export const graphOf = (...nodes) => ({
  nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })),
});
