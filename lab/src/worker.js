// SPDX-License-Identifier: BSD-3-Clause
// Runs in a worker, so that the page never waits. Each message in is a list of runs; the messages out are the progress
// and the results. The page terminates a worker that must stop, and starts another.

import { Engine } from "./engine.js";

const BOTTLENECK = "bottleneck"; // the link of the papers whose rate flows share
const BETWEEN_REPORTS_MS = 80;
let engine;
let reported_ms = 0, job;

function report(reached_s) {
  const now_ms = performance.now();
  if (now_ms - reported_ms < BETWEEN_REPORTS_MS) return;
  reported_ms = now_ms;
  postMessage({ id: job.id, share: (job.before_s + reached_s) / job.whole_s });
}

// A run with its curves. A run with columns to `observe` gets them in its rows, and has no curves.
function done({ label, scenario, observe: columns = [] }, duration_s, seed, view) {
  if (!columns.length) return { label, ...engine.run(scenario, seed, view) };
  const all = engine.run(scenario, seed, { from_s: 0, to_s: duration_s + 1, bins: 1, keeps_rows: true });
  const link = all.planned.links.findIndex((link) => link.name === BOTTLENECK);
  for (const column of columns) all.rows[0][column] = engine.observe(column, Math.max(0, link));
  return { label, rows: all.rows };
}

// The results' buffers, which are transferred rather than copied.
const buffersOf = (value) =>
  ArrayBuffer.isView(value) ? [value.buffer] : value && typeof value === "object" ? Object.values(value).flatMap(buffersOf) : [];

self.onmessage = ({ data }) => {
  if (data.module) {
    engine = new Engine(data.module, data.own, report);
    return;
  }
  const { id, runs, seed, view } = data;
  try {
    const durations_s = runs.map((run) => engine.read(run.scenario).duration_s);
    const whole_s = durations_s.reduce((sum, duration_s) => sum + duration_s, 0);
    let before_s = 0;
    reported_ms = performance.now();
    const results = runs.map((run, place) => {
      job = { id, before_s, whole_s };
      before_s += durations_s[place];
      return done(run, durations_s[place], seed, view);
    });
    postMessage({ id, results }, buffersOf(results));
  } catch (error) {
    postMessage({ id, results: [], problem: String(error.message && error.key === undefined ? error.message : error) });
  }
};
