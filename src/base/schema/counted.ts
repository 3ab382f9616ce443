/** Formats numbers for people. */
export const count = (value: number | bigint): string => value.toLocaleString('en-US');

/** `1 record`, `3 records`; `plural` is for irregular plurals. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}
