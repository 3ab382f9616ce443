/** One holder's claim on a shared value, which stays open until every pin on it is released. */
export interface Pin<T> extends AsyncDisposable, Disposable {
  /** Not to be closed by its holders. */
  readonly value: T;
  /** Another claim on the same value. Precondition: this one is not released. */
  share(): Pin<T>;
  /** Gives the claim up; resolves when everything that closes because of it is closed. Calling it twice is fine. */
  release(): Promise<void>;
}

/** A value that many may hold. */
export interface Holdable {
  /** Keeps the value's resources in memory until the result is called. */
  hold?(): () => void;
}

/** Counts the holders of one value, and keeps the value ready for work while there are any. */
export class Holders<T extends Holdable> {
  readonly #value: T;
  readonly #onLast: () => Promise<void>;
  #count = 0;
  #letGo: (() => void) | undefined;

  /** `onLast` runs each time the last holder has let go. */
  constructor(value: T, onLast: () => Promise<void>) {
    this.#value = value;
    this.#onLast = onLast;
  }

  get count(): number {
    return this.#count;
  }

  pin(): Pin<T> {
    if (this.#count === 0) this.#letGo = this.#value.hold?.();
    this.#count++;
    let held = true;
    const release = async () => {
      if (!held) return;
      held = false;
      this.#count--;
      if (this.#count > 0) return;
      this.#letGo?.();
      await this.#onLast();
    };
    return disposable({ value: this.#value, share: () => this.pin(), release });
  }
}

/** Returns a pin that `await using` releases, and `using` too, without waiting for it. */
export function disposable<T>(pin: Pick<Pin<T>, 'value' | 'share' | 'release'>): Pin<T> {
  const { release } = pin;
  return { ...pin, [Symbol.asyncDispose]: release, [Symbol.dispose]: () => void release().catch(() => {}) };
}
