/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const boundsMs = bounds.map((bound) => bound * 1000);
/** Places after the buckets: durations above all bounds, and the sum of all in ms. */
const above = bounds.length;
const sum = above + 1;

/** Counts durations in a flat array: no label or bucket is looked up by text at an observation. */
export class LatencySeries {
  readonly #numbers = new Float64Array(sum + 1);

  observe(ms: number): void {
    let bucket = 0;
    while (bucket < above && ms > (boundsMs[bucket] as number)) bucket++;
    this.#numbers[bucket] = (this.#numbers[bucket] as number) + 1;
    this.#numbers[sum] = (this.#numbers[sum] as number) + ms;
  }

  /** Lines of a histogram in the text format of Prometheus. `label`: such as `type="retrieve"`, or empty. */
  lines(name: string, label: string): string[] {
    const lines: string[] = [];
    let count = 0;
    for (let bucket = 0; bucket <= above; bucket++) {
      count += this.#numbers[bucket] as number;
      const le = `le="${bounds[bucket] ?? '+Inf'}"`;
      lines.push(`${name}_bucket{${label === '' ? le : `${le},${label}`}} ${count}`);
    }
    const labels = label === '' ? '' : `{${label}}`;
    const seconds = (this.#numbers[sum] as number) / 1000;
    return [...lines, `${name}_sum${labels} ${seconds}`, `${name}_count${labels} ${count}`];
  }
}

/** A histogram of durations with one label, whose values are few and plain words: types of requests and of nodes. */
export class LatencyHistogram {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #series = new Map<string, LatencySeries>();

  /** An empty `label`: one series without labels. */
  constructor(name: string, help: string, label = '') {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    if (label === '') this.series('');
  }

  series(value: string): LatencySeries {
    let series = this.#series.get(value);
    if (series === undefined) {
      series = new LatencySeries();
      this.#series.set(value, series);
    }
    return series;
  }

  text(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    for (const [value, series] of this.#series)
      lines.push(...series.lines(this.#name, this.#label === '' ? '' : `${this.#label}="${value}"`));
    return `${lines.join('\n')}\n`;
  }
}
