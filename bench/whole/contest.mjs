// The turns of the engines of one trial: each step in a process of its own, ended when it takes too long.
import { fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mean, ndcg } from '../quality/measures.mjs';

const depth = 10;

export class Contest {
  folder = mkdtempSync(join(tmpdir(), 'lorekeep-whole-'));
  failed = [];
  leftOut = [];

  constructor(collection, seconds, limit) {
    Object.assign(this, { collection, seconds, limit });
  }

  /** Runs a step of an engine. One that fails takes no further turns. */
  async turn(entrant, body) {
    const begin = performance.now();
    try {
      await body();
      const taken = ((performance.now() - begin) / 1000).toFixed(1);
      console.log(`${entrant.name}: ${entrant.runs.length === 0 ? 'index made' : 'asked'}, ${taken} s`);
    } catch ({ message: reason }) {
      entrant.fell = true;
      const list = /^Cannot find package/.test(reason) ? this.leftOut : this.failed;
      list.push({ name: entrant.name, reason });
    }
  }

  async build(entrant) {
    const texts = this.collection.documents.map(({ text }) => text);
    entrant.build = (await this.#step(entrant, { step: 'build', texts })).ms / 1000;
  }

  async answer(entrant) {
    const { documents, queries, gains } = this.collection;
    const questions = queries.map(({ text }) => text);
    const every = entrant.ndcg === undefined;
    const task = { step: 'answer', questions, every, depth, rows: documents.length, seconds: this.seconds };
    const answer = await this.#step(entrant, task);
    entrant.runs.push(answer);
    if (!every) return;
    const scores = answer.found.map((rows, i) => {
      const ids = rows.map((at) => documents[at].id);
      return ndcg(ids, gains.get(queries[i].id), depth);
    });
    entrant.ndcg = mean(scores);
  }

  /** Runs one step in a process; `firstMs` counts from its start. */
  #step({ id, env }, task) {
    return new Promise((resolve, reject) => {
      const begin = performance.now();
      const options = { serialization: 'advanced', env: { ...process.env, ...env } };
      const child = fork(new URL('step.mjs', import.meta.url), options);
      const late = setTimeout(() => {
        reject(new Error(`no end of "${task.step}" in ${this.limit} s`));
        child.kill('SIGKILL');
      }, this.limit * 1000);
      let firstMs;
      let result;
      child.on('message', (message) => {
        if (message.ready) child.send({ engine: id, folder: join(this.folder, id), ...task });
        else if (message.first) firstMs = performance.now() - begin;
        else if (message.error) reject(new Error(message.error));
        else {
          result = { ...message, firstMs };
          child.kill('SIGKILL'); // some engines end slowly, and the next step must not begin beside
        }
      });
      child.on('exit', (code, signal) => {
        clearTimeout(late);
        if (result) resolve(result);
        else reject(new Error(`the process ended with ${signal ?? code}`));
      });
    });
  }
}
