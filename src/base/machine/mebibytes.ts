export const bytesPerMiB = 1024 * 1024;

/** Formats bytes as MiB with one decimal, for messages. */
export function inMiB(bytes: number): string {
  return `${(bytes / bytesPerMiB).toFixed(1)} MiB`;
}
