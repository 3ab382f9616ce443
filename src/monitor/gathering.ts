const gatherMs = 100;

/** Hands items over ten times a second, several at a time, so that a page costs a loaded server little. */
export class Gathering<Item> {
  readonly #most: number;
  readonly #choose: (items: Item[]) => Item[];
  readonly #show: (items: readonly Item[]) => void;
  #gathered: Item[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `choose` is given more than `most` items and returns at most `most` of them. */
  constructor(most: number, choose: (items: Item[]) => Item[], show: (items: readonly Item[]) => void) {
    this.#most = most;
    this.#choose = choose;
    this.#show = show;
  }

  add(item: Item): void {
    this.#gathered.push(item);
    // Bounded, too, while the event loop is blocked.
    if (this.#gathered.length >= 4 * this.#most) this.#gathered = this.#choose(this.#gathered);
    this.#timer ??= setTimeout(() => this.flush(), gatherMs).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const items = this.#gathered.length > this.#most ? this.#choose(this.#gathered) : this.#gathered;
    this.#gathered = [];
    if (items.length > 0) this.#show(items);
  }
}
