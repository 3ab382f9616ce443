const millisecondsPerDay = 86_400_000;

/** Spells an int field's value as its format does: "2024-05-31", "2024-05-31T12:00:00.000Z". */
export function isoDate(value: number, format: 'date' | 'date-time'): string | number {
  const time = new Date(format === 'date' ? value * millisecondsPerDay : value);
  const year = time.getUTCFullYear();
  // Only a forged index file has other years.
  if (!(year >= 1 && year <= 9999)) return value;
  const text = time.toISOString();
  return format === 'date' ? text.slice(0, 10) : text;
}
