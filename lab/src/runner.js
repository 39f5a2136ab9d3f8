// SPDX-License-Identifier: BSD-3-Clause
// Distributes runs over workers. Of the jobs that are requested while one is running only the last is done; a job
// that takes long is aborted for it.

import { engine, worker } from "./packed.js";

const PATIENCE_MS = 250; // granted to a job when another is requested

export const compiled = WebAssembly.compile(Uint8Array.from(atob(engine), (one) => one.charCodeAt(0)));
const url = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));

export class Runner {
  #workers; // null: not started yet
  #next = null;
  #current = null;
  #id = 0;

  constructor(count) {
    this.#workers = Array(count).fill(null);
  }

  // Does `job` (worker.js) and returns its results; null if another job replaced it or it was stopped.
  async run(job, progress = () => {}) {
    this.#next?.done(null);
    const wanted = { job: { ...job, id: ++this.#id }, progress };
    const result = new Promise((done, failed) => Object.assign(wanted, { done, failed }));
    this.#next = wanted;
    if (this.#current) this.#hurry();
    else this.#begin();
    return result;
  }

  stop() {
    this.#next?.done(null);
    this.#next = null;
    this.#end();
  }

  #hurry() {
    const { job, since_ms } = this.#current;
    const left_ms = Math.max(0, PATIENCE_MS - (performance.now() - since_ms));
    setTimeout(() => {
      if (this.#current?.job.id !== job.id || !this.#next) return;
      this.#end();
      this.#begin();
    }, left_ms);
  }

  // A busy worker receives no messages: it is terminated, and replaced when needed.
  #end() {
    if (!this.#current) return;
    for (const { place, results } of this.#current.parts)
      if (!results) {
        this.#workers[place].terminate();
        this.#workers[place] = null;
      }
    this.#current.done(null);
    this.#current = null;
  }

  #begin() {
    const { job, ...wanted } = this.#next;
    const { runs, ...rest } = job;
    const parts = this.#workers.slice(0, runs.length).map((_, place) => ({ place, share: 0 }));
    this.#current = { ...wanted, job, parts, since_ms: performance.now() };
    this.#next = null;
    for (const { place } of parts)
      this.#tell(place, { ...rest, runs: runs.filter((_, i) => i % parts.length === place) });
  }

  async #tell(place, job) {
    if (!this.#workers[place]) {
      const made = new Worker(url);
      this.#workers[place] = made;
      made.onmessage = ({ data }) => this.#heard(place, data);
      made.onerror = (event) => this.#heard(place, { id: this.#current?.job.id, results: [], problem: event.message });
      const module = await compiled;
      made.postMessage({ module });
      if (this.#workers[place] !== made) return;
    }
    this.#workers[place].postMessage(job);
  }

  #heard(place, { id, share, ...said }) {
    if (id !== this.#current?.job.id) return;
    const { job, parts, progress, done, failed } = this.#current;
    Object.assign(parts[place], said, { share: share ?? 1 });
    progress(parts.reduce((sum, one) => sum + one.share, 0) / parts.length);
    if (!parts.every((one) => one.results)) return;
    this.#current = null;
    const problem = parts.find((one) => one.problem)?.problem;
    if (problem) failed(new Error(problem));
    else done(job.runs.map((_, i) => parts[i % parts.length].results[Math.floor(i / parts.length)]));
    if (this.#next) this.#begin();
  }
}
