// SPDX-License-Identifier: BSD-3-Clause
// Computes numbers from a run's windows that its rows lack: westwood/papers/observers.py does the same.

import { UDP } from "./declared.js";

const GRID_S = 0.1;
const FLUCTUATION_S = [8, 14]; // in Figure 11 of the 2013 paper
const SAMPLES_S = 3; // Figure 10 of the 2013 paper

const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

function median(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

// A column's values at multiples of `every_s`, from its first row on: times and values.
function sampled({ windows, whole_s }, column, every_s) {
  const times = [], values = [];
  let row = -1;
  for (let i = 0; i <= Math.floor(whole_s / every_s + 1e-9); i++) {
    const time_s = i * every_s;
    while (row + 1 < windows.time_s.length && windows.time_s[row + 1] <= time_s) row++;
    if (row < 0) continue;
    times.push(time_s);
    values.push(windows[column][row]);
  }
  return { times, values };
}

const known = (values) => values.filter((one) => !Number.isNaN(one));

function estimates({ windows }, [from_s, to_s] = [0, Infinity]) {
  return known(windows.estimate_bps.filter((_, i) => windows.time_s[i] >= from_s && windows.time_s[i] <= to_s));
}

// The mean estimate over the rate that UDP leaves, in the second half of its times off ("alone") or on ("beside").
function share(its, isOn) {
  const { planned, flow } = its;
  const udp = planned.flows.find((one) => one.cc === UDP);
  const link = planned.links.find((one) => one.name === "bottleneck");
  if (!udp || !link || !udp.off_s) return NaN;
  const { start_s: start, on_s: on, off_s: off } = udp;
  const { times, values } = sampled(its, "estimate_bps", GRID_S);
  const isSettled = (time) => {
    const phase = (((time - start) % (on + off)) + on + off) % (on + off);
    if (isOn) return time >= start && phase >= on / 2 && phase < on;
    return time < start ? time >= start / 2 : phase >= on + off / 2;
  };
  const payload = flow.payload_bytes / (flow.packet_bytes + link.overhead_bytes);
  const left = link.forward_bps - (isOn ? udp.rate_bps : 0);
  return mean(values.filter((_, i) => isSettled(times[i]))) / (left * payload);
}

function overPipe(its) {
  const slowest = least(its.planned.links.map((link) => link.forward_bps));
  const pipe = (slowest * its.row.min_rtt_s) / (8 * its.flow.packet_bytes);
  return median(known(sampled(its, "ssthresh", GRID_S).values)) / pipe;
}

const OBSERVED = {
  sampled_cwnd: (its) => mean(sampled(its, "cwnd", SAMPLES_S).values.slice(1)),
  estimate_peak_bps: (its) => most(estimates(its)),
  estimate_mean_bps: (its) => mean(known(sampled(its, "estimate_bps", GRID_S).values)),
  estimate_low_bps: (its) => least(estimates(its, FLUCTUATION_S)),
  estimate_high_bps: (its) => most(estimates(its, FLUCTUATION_S)),
  estimate_alone_share: (its) => share(its, false),
  estimate_beside_share: (its) => share(its, true),
  ssthresh_over_pipe: overPipe,
};

export const isObserved = (column) => Object.hasOwn(OBSERVED, column);

// Adds columns to a run's rows, computed from the windows of its first flow's connection.
export function observe(columns, { planned, rows, windows: all }) {
  const [flow] = planned.flows;
  const own = rows.find((row) => row.flow === flow.name);
  if (!own) return;
  const isOwn = (_, i) => all.connection[i] === 0;
  const windows = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.filter(isOwn)]));
  const its = { planned, flow, row: own, windows, whole_s: planned.duration_s };
  for (const column of columns) own[column] = OBSERVED[column](its);
}
