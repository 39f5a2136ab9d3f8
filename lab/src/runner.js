// SPDX-License-Identifier: BSD-3-Clause
// Distributes runs over workers. Of the jobs that are requested while one is running only the last is done; a job
// that takes long is aborted for it.

import { OWN } from "./declared.js";
import { engine, worker } from "./packed.js";
import { protocolOf } from "./scenario.js";

const PATIENCE_MS = 250; // granted to a job when another is requested

const LOOK_MS = 1000; // a run with a control of a user's file gives no sign of life while that loops
const MOST_SILENT_LOOKS = 5;

const compile = (base64) => WebAssembly.compile(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
export const compiled = compile(engine);
const ownCompiled = Promise.all(OWN.map(async ({ wasm, ...facts }) => ({ ...facts, module: await compile(wasm) })));
const url = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));

export class Runner {
  #workers; // null: not started yet
  #next = null;
  #current = null;
  #id = 0;
  #silent = 0; // looks without a sign of life
  #watch;

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
    this.#rest();
  }

  #rest() {
    this.#current = null;
    clearInterval(this.#watch);
  }

  // Ends a run whose control does not return.
  #look(controls) {
    if (++this.#silent <= MOST_SILENT_LOOKS) return;
    const { failed } = this.#current;
    failed(new Error(`${controls.join(" or ")}: an action does not return within ${(MOST_SILENT_LOOKS * LOOK_MS) / 1000} s`));
    this.#end();
    if (this.#next) this.#begin();
  }

  #begin() {
    const { job, ...wanted } = this.#next;
    const { runs, ...rest } = job;
    const parts = this.#workers.slice(0, runs.length).map((_, place) => ({ place, share: 0 }));
    this.#current = { ...wanted, job, parts, since_ms: performance.now() };
    this.#next = null;
    const controls = ownOf(runs);
    this.#silent = 0;
    if (controls.length) this.#watch = setInterval(() => this.#look(controls), LOOK_MS);
    for (const { place } of parts)
      this.#tell(place, { ...rest, runs: runs.filter((_, i) => i % parts.length === place) });
  }

  async #tell(place, job) {
    if (!this.#workers[place]) {
      const worker = new Worker(url);
      this.#workers[place] = worker;
      worker.onmessage = ({ data }) => this.#heard(place, data);
      worker.onerror = (event) => this.#heard(place, { id: this.#current?.job.id, results: [], problem: event.message });
      const [module, own] = await Promise.all([compiled, ownCompiled]);
      worker.postMessage({ module, own });
      if (this.#workers[place] !== worker) return;
    }
    this.#workers[place].postMessage(job);
  }

  #heard(place, { id, share, ...state }) {
    if (id !== this.#current?.job.id) return;
    this.#silent = 0;
    const { job, parts, progress, done, failed } = this.#current;
    Object.assign(parts[place], state, { share: share ?? 1 });
    progress(parts.reduce((sum, part) => sum + part.share, 0) / parts.length);
    if (!parts.every((part) => part.results)) return;
    this.#rest();
    const problem = parts.find((part) => part.problem)?.problem;
    if (problem) failed(new Error(problem));
    else done(job.runs.map((_, i) => parts[i % parts.length].results[Math.floor(i / parts.length)]));
    if (this.#next) this.#begin();
  }
}

// The users' files among the controls of the runs.
const ownOf = (runs) => {
  const named = new Set(runs.flatMap(({ scenario }) => scenario.flow.map(protocolOf)));
  return OWN.map((control) => control.name).filter((name) => named.has(name));
};
