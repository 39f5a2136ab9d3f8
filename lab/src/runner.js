// SPDX-License-Identifier: BSD-3-Clause
// Has runs done by a worker. Of several that are wanted while one is under way only the last is done; one that
// takes long is ended for it.

import { engine, worker } from "./packed.js";

const PATIENCE_MS = 250; // that a run may take when another is wanted

export class Runner {
  #module;
  #worker = null;
  #next = null;
  #current = null;
  #id = 0;

  constructor() {
    const bytes = Uint8Array.from(atob(engine), (one) => one.charCodeAt(0));
    this.#module = WebAssembly.compile(bytes);
    this.url = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  }

  // Does what `job` says (worker.js) and gives its results; null if another took its place or it was stopped.
  async run(job, progress = () => {}) {
    this.#next?.done(null);
    const wanted = { ...job, id: ++this.#id, progress };
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
    const { id, since_ms } = this.#current;
    const left_ms = Math.max(0, PATIENCE_MS - (performance.now() - since_ms));
    setTimeout(() => {
      if (this.#current?.id !== id || !this.#next) return;
      this.#end();
      this.#begin();
    }, left_ms);
  }

  // A worker that runs hears nothing: it is ended, and another begins where it is needed.
  #end() {
    if (!this.#current) return;
    this.#worker.terminate();
    this.#worker = null;
    this.#current.done(null);
    this.#current = null;
  }

  async #begin() {
    const { progress, done, failed, ...job } = this.#next;
    this.#current = { id: job.id, progress, done, failed, since_ms: performance.now() };
    this.#next = null;
    if (!this.#worker) {
      const made = new Worker(this.url);
      this.#worker = made;
      made.onmessage = ({ data }) => this.#heard(data);
      made.onerror = (event) => this.#heard({ id: this.#current?.id, problem: event.message });
      const module = await this.#module;
      made.postMessage({ module });
      if (this.#worker !== made) return;
    }
    this.#worker.postMessage(job);
  }

  #heard({ id, reached_s, whole_s, results, problem }) {
    if (id !== this.#current?.id) return;
    if (reached_s !== undefined) {
      this.#current.progress(reached_s / whole_s);
      return;
    }
    const { done, failed } = this.#current;
    this.#current = null;
    if (problem) failed(new Error(problem));
    else done(results);
    if (this.#next) this.#begin();
  }
}
