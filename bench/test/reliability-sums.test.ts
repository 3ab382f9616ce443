import { expect, test } from 'vitest';
import { sum } from '../reliability/publish.mjs';
import { campaignTable } from '../reliability/report.mjs';

const outcome = (facts: object) => ({
  case: 'text index',
  unit: 'files',
  tried: 10,
  wrong: 0,
  crashes: 1,
  hangs: 0,
  outside: 0,
  starved: 0,
  problems: [],
  ...facts,
});
const result = (seed: number, facts: object) => ({
  kind: 'files',
  seed: String(seed),
  minutes: 1.5,
  outcomes: [outcome(facts)],
});

test('runs that are added have the sums of their counts, and no note about one of them', () => {
  const counted = sum(
    result(1, { counts: { refused: 9, otherwise: 1 } }),
    result(2, { counts: { refused: 8, otherwise: 2 } }),
  );
  expect(counted).toMatchObject({ seed: '1, 2', minutes: 3, outcomes: [{ tried: 20, crashes: 2 }] });
  expect(campaignTable([counted]).rows).toMatchObject([{ tried: 20, note: '17 refused, 3 otherwise' }]);
  const noted = sum(result(1, { note: '4 requests' }), result(2, { counts: { refused: 8 } }));
  expect(campaignTable([noted]).rows).toMatchObject([{ tried: 20, note: '' }]);
});
