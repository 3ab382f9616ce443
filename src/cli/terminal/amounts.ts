export { count, counted } from '../../base/schema/counted.js';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`;
}

/** `340 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(Math.floor(seconds % 60))} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

const two = (value: number) => String(value).padStart(2, '0');
