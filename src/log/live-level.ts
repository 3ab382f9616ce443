/** Dead children are forgotten each time that this many have been added. */
const sweepEvery = 1024;

interface Leveled {
  level: string;
}

/** The level of a log and of all its children, which pino copies when a child is made. */
export class LiveLevel {
  readonly #children = new Set<WeakRef<Leveled>>();
  #added = 0;

  add(child: Leveled): void {
    this.#children.add(new WeakRef(child));
    if (++this.#added % sweepEvery === 0) this.#sweep();
  }

  set(root: Leveled, level: string): void {
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
