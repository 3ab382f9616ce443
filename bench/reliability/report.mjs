// The campaign's table.

const columns = [
  { key: 'kind', label: 'kind' },
  { key: 'case', label: 'case' },
  { key: 'tried', label: 'tried', digits: 0 },
  { key: 'wrong', label: 'wrong', digits: 0 },
  { key: 'crashes', label: 'crashes', digits: 0 },
  { key: 'hangs', label: 'hangs', digits: 0 },
  { key: 'outside', label: 'reads outside', digits: 0 },
  { key: 'starved', label: 'starved', digits: 0 },
  { key: 'note', label: '' },
];
const sums = ['tried', 'wrong', 'crashes', 'hangs', 'outside', 'starved'];

export function campaignTable(results) {
  const rows = results.flatMap(({ kind, outcomes }) => [
    ...outcomes.map((outcome) => rowOf(kind, outcome)),
    ...(outcomes.length > 1 ? [total(kind, outcomes)] : []),
  ]);
  return { id: 'reliability', title: 'Reliability', columns, rows };
}

function rowOf(kind, { skipped, note, ...outcome }) {
  if (skipped !== undefined) return { kind, case: outcome.case, note: `left out: ${skipped}` };
  return { kind, ...outcome, note: note ?? '' };
}

function total(kind, outcomes) {
  const added = sums.map((key) => [key, outcomes.reduce((sum, outcome) => sum + outcome[key], 0)]);
  return {
    kind,
    case: 'all',
    ...Object.fromEntries(added),
    note: outcomes.find(({ unit }) => unit)?.unit ?? '',
  };
}
