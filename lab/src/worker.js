// SPDX-License-Identifier: BSD-3-Clause
// Runs in a worker, so that the page never waits: a message in is a list of runs, the messages out are how far it
// has come, and the results. The page ends a worker that is to stop, and starts another.

import { Engine } from "./engine.js";
import { complete } from "./scenario.js";

const BETWEEN_REPORTS_MS = 80;
let engine, module;
let told_ms = 0, job;

function looks(reached_s) {
  const now_ms = performance.now();
  if (now_ms - told_ms < BETWEEN_REPORTS_MS) return;
  told_ms = now_ms;
  postMessage({ id: job.id, reached_s: reached_s + job.before_s, whole_s: job.whole_s });
}

self.onmessage = ({ data }) => {
  if (data.module) {
    module = data.module;
    engine = new Engine(module, looks);
    return;
  }
  const { id, runs, seed, view } = data;
  try {
    const built = runs.map((run) => complete(run.scenario));
    const each_s = Number(built[0].duration) / 1e12;
    told_ms = performance.now();
    const results = built.map((one, place) => {
      job = { id, before_s: place * each_s, whole_s: built.length * each_s };
      return { label: runs[place].label, ...engine.run(one, seed, view) };
    });
    postMessage({ id, results });
  } catch (error) {
    engine = new Engine(module, looks); // the old one may have ended
    postMessage({ id, problem: String(error.message && error.key === undefined ? error.message : error) });
  }
};
