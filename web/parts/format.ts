export const ms = (value: number) =>
  value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${value.toFixed(value < 10 ? 2 : 0)} ms`;

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} KiB`;
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

/** A time since something, in whole seconds, minutes or hours. */
export function age(value: number): string {
  const seconds = Math.floor(value / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

export const time = (at: number) => new Date(at).toLocaleTimeString([], { hour12: false });

/** The end of a path tells files apart. */
export const tail = (path: string, length = 48) =>
  path.length <= length ? path : `…${path.slice(path.length - length)}`;
