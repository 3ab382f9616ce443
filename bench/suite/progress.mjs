// Progress of the suite: the trial that runs, and the time that the rest will take. It goes to stderr; tables go to stdout.

export class Progress {
  #trials;
  #preset;
  #verbose;
  #at = 0;
  /** How much longer than expected the trials took so far: a slower or busier machine. */
  #spent = 0;
  #expected = 0;

  constructor(trials, preset, verbose) {
    this.#trials = trials;
    this.#preset = preset;
    this.#verbose = verbose;
  }

  begin() {
    const { name, what } = this.#trials[this.#at];
    const left = this.#trials.slice(this.#at).reduce((sum, trial) => sum + trial[this.#preset].minutes, 0);
    const pace = this.#expected > 0 ? this.#spent / this.#expected : 1;
    this.#print(`[${this.#at + 1}/${this.#trials.length}] ${name}: ${what}; about ${time(left * pace)} left`);
  }

  say = (line) => {
    if (this.#verbose) this.#print(`    ${line}`);
  };

  end(minutes) {
    this.#expected += this.#trials[this.#at][this.#preset].minutes;
    this.#spent += minutes;
    this.#at++;
  }

  #print(line) {
    process.stderr.write(`${line}\n`);
  }
}

/** "40 s", "3 min" */
export function time(minutes) {
  return minutes < 1.5 ? `${Math.max(1, Math.round(minutes * 60))} s` : `${Math.round(minutes)} min`;
}
