// SPDX-License-Identifier: BSD-3-Clause
// Runs in a worker, so that the page never waits. Each message in is a list of runs; the messages out are the progress
// and the results. The page terminates a worker that must stop, and starts another.

import { Engine } from "./engine.js";
import { observe } from "./observers.js";
import { complete } from "./scenario.js";

const BETWEEN_REPORTS_MS = 80;
let engine, module;
let reported_ms = 0, job;

function report(reached_s) {
  const now_ms = performance.now();
  if (now_ms - reported_ms < BETWEEN_REPORTS_MS) return;
  reported_ms = now_ms;
  postMessage({ id: job.id, share: (job.before_s + reached_s) / job.whole_s });
}

const durationOf = (built) => Number(built.duration) / 1e12;

// A run with its curves. A run with columns to `observe` gets them in its rows, and has no curves.
function done({ label, observe: columns = [] }, built, seed, view) {
  if (!columns.length) return { label, ...engine.run(built, seed, view) };
  const all = engine.run(built, seed, { from_s: 0, to_s: durationOf(built) + 1, bins: 1, keeps_rows: true });
  observe(columns, built, all);
  return { label, rows: all.rows };
}

// The results' buffers, which are transferred rather than copied.
const buffersOf = (value) =>
  ArrayBuffer.isView(value) ? [value.buffer] : value && typeof value === "object" ? Object.values(value).flatMap(buffersOf) : [];

self.onmessage = ({ data }) => {
  if (data.module) {
    module = data.module;
    engine = new Engine(module, report);
    return;
  }
  const { id, runs, seed, view } = data;
  try {
    const built = runs.map((run) => complete(run.scenario));
    const whole_s = built.reduce((sum, one) => sum + durationOf(one), 0);
    let before_s = 0;
    reported_ms = performance.now();
    const results = built.map((one, place) => {
      job = { id, before_s, whole_s };
      before_s += durationOf(one);
      return done(runs[place], one, seed, view);
    });
    postMessage({ id, results }, buffersOf(results));
  } catch (error) {
    engine = new Engine(module, report); // the previous engine may have ended
    postMessage({ id, results: [], problem: String(error.message && error.key === undefined ? error.message : error) });
  }
};
