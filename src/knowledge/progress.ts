/**
 * Phases of indexing, opening and building, in this order: the files of a folder are read, then the records; these are
 * embedded, linked into the graph of the index, and their words indexed.
 */
export type KnowledgePhase = 'files' | 'read' | 'embed' | 'index' | 'words';

export interface KnowledgeProgress {
  phase: KnowledgePhase;
  /** Records done, or files in the phase of files, from 0 to `total`, not decreasing within a phase. The last report of a phase has done = total. */
  done: number;
  /** Records of this phase; 0 while records are read, because how many there are is known at the end. */
  total: number;
}

export type ProgressListener = (progress: KnowledgeProgress) => void;

export const noProgress: ProgressListener = () => {};

/** Milliseconds that each phase took, rounded. A phase that had nothing to do has none. */
export type PhaseTimes = Partial<Record<KnowledgePhase, number>>;

/** Reports the phases of one opening or building, and how long they took. */
export class PhaseReport {
  readonly times: PhaseTimes = {};
  readonly #listener: ProgressListener;

  constructor(listener: ProgressListener) {
    this.#listener = listener;
  }

  /** Runs a phase of `total` records. `work` may say how far it is, as a fraction. */
  async run<T>(
    phase: KnowledgePhase,
    total: number,
    work: (onFraction: (fraction: number) => void) => Promise<T>,
    /** Their number, where only the result has it. */
    count: (result: T) => number = () => total,
  ): Promise<T> {
    const started = performance.now();
    this.#listener({ phase, done: 0, total });
    const result = await work((fraction) =>
      this.#listener({ phase, done: Math.min(Math.floor(fraction * total), total), total }),
    );
    const done = count(result);
    this.#listener({ phase, done, total: done });
    this.times[phase] = (this.times[phase] ?? 0) + Math.round(performance.now() - started);
    return result;
  }
}
