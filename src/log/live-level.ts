import type { Log, LogLevel } from './log.js';

/** Dead children are forgotten when this many have been added. */
const sweepEvery = 1024;

/** The level of a log and of all its children, which pino copies when a child is made. */
export class LiveLevel {
  readonly #children = new Set<WeakRef<Log>>();
  #added = 0;

  add(child: Log): void {
    this.#children.add(new WeakRef(child));
    if (++this.#added % sweepEvery === 0) this.#sweep();
  }

  set(root: Log, level: LogLevel): void {
    root.level = level;
    for (const child of this.#children) {
      const alive = child.deref();
      if (alive !== undefined) alive.level = level;
    }
  }

  #sweep(): void {
    for (const child of this.#children) if (child.deref() === undefined) this.#children.delete(child);
  }
}
