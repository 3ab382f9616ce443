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

/** One row per kind: the sums of its cases, and the worst times that the well-behaved client saw beside attacks. */
export function summaryTable(results) {
  const rows = results.map(({ kind, outcomes }) => ({
    ...total(kind, outcomes),
    case: outcomes.length,
    note: worstTimes(outcomes),
  }));
  const named = columns.map((column) =>
    column.key === 'case' ? { ...column, label: 'cases', digits: 0 } : column,
  );
  return { id: 'reliability', title: 'Reliability', columns: named, rows };
}

function worstTimes(outcomes) {
  const measured = outcomes.flatMap((outcome) => (outcome.measured ? [outcome.measured] : []));
  if (measured.length === 0) return '';
  const worst = (value) => Math.max(...measured.map(value)).toFixed(0);
  const missed = outcomes.filter(({ misses }) => misses?.length > 0).length;
  return (
    `at worst ping p99 ${worst(({ seen }) => seen.pingP99)} ms, search p99 ${worst(({ seen }) => seen.searchP99)} ms, ` +
    `own stall ${worst(({ own }) => own)} ms; ${missed} above target`
  );
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
