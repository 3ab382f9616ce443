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
export const sums = ['tried', 'wrong', 'crashes', 'hangs', 'outside', 'starved'];

export function campaignTable(results) {
  const rows = results.flatMap(({ kind, outcomes }) => [
    ...outcomes.map((outcome) => rowOf(kind, outcome)),
    ...(outcomes.length > 1 ? [total(kind, outcomes)] : []),
  ]);
  return { id: 'reliability', title: 'Reliability', columns, rows };
}

/** Numbers by name, such as `12 refused, 3 otherwise`. */
export function countsText(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function rowOf(kind, { skipped, counts, note, ...outcome }) {
  if (skipped !== undefined) return { kind, case: outcome.case, note: `left out: ${skipped}` };
  return { kind, ...outcome, note: counts ? countsText(counts) : (note ?? '') };
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
