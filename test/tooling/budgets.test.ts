import { describe, expect, test } from 'vitest';

const scripts = (path: string) => import(new URL(`../../scripts/${path}`, import.meta.url).href);
const { budgetOf, excessOf, measureSlowness, usualSeconds } = await scripts('testing/budgets.mjs');
const { groups, groupsOf } = await scripts('testing/groups.mjs');

interface Group {
  steps: { name: string }[];
}

describe('the budget of a step', () => {
  test('is stated for each step, and for no other', () => {
    const names = (Object.values(groups) as Group[]).flatMap(({ steps }) => steps.map(({ name }) => name));
    expect(Object.keys(usualSeconds).sort()).toEqual(['set-up', ...names].sort());
    for (const name of names) expect(budgetOf(name, 1)).toBeGreaterThanOrEqual(2000 * usualSeconds[name]);
    expect(() => budgetOf('tea', 1)).toThrow('tea: scripts/testing/budgets.mjs states no time');
  });

  test('grows with the slowness of the machine, which is at least 1', async () => {
    expect(budgetOf('layers', 3)).toBeCloseTo(3 * budgetOf('layers', 1));
    expect(await measureSlowness()).toBeGreaterThanOrEqual(1);
    const times = [0, 4_000_000];
    expect(await measureSlowness(() => times.shift())).toBeGreaterThan(1000);
  });

  test('is exceeded only if the machine has not become slower since the start', async () => {
    const budget = budgetOf('layers', 1);
    const fail = () => Promise.reject(new Error('not measured again'));
    expect(await excessOf('layers', budget, 1, fail)).toBe(0);
    expect(await excessOf('layers', 1.5 * budget, 1, async () => 1)).toBeCloseTo(budget / 2);
    expect(await excessOf('layers', 1.5 * budget, 1, async () => 2)).toBe(0);
  });
});

test('the tiers share no group, and test:all is both', () => {
  const [daily, rest] = [groupsOf('test'), groupsOf('rest')];
  expect(daily).toEqual(['checks', 'native', 'ts', 'smoke']);
  expect(rest.length).toBeGreaterThan(3);
  expect([...daily, ...rest].sort()).toEqual(groupsOf('all').sort());
});
