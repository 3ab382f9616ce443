// One line per trial: how it went.
import { time } from './progress.mjs';

export function summaryTable(records) {
  const rows = records.map(({ name, status, reason, minutes, load, leftOut = [], failed = [] }) => ({
    name,
    status,
    time: time(minutes),
    load: load.join(' to '),
    remarks: [
      ...(reason ? [reason] : []),
      ...failed.map((one) => `${one.name}: ${one.reason}`),
      ...leftOut.map((one) => `without ${one.name}`),
    ].join('; '),
  }));
  const columns = [
    { key: 'name', label: 'trial' },
    { key: 'status', label: 'status' },
    { key: 'time', label: 'time' },
    { key: 'load', label: 'load' },
    { key: 'remarks', label: 'remarks' },
  ];
  return { title: 'Trials', columns, rows };
}
