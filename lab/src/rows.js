// SPDX-License-Identifier: BSD-3-Clause
// A run's rows, one per flow, from what the engine measured: westwood/results/columns.py computes the same.

import { D, UDP } from "./declared.js";

const OF_CONGESTION_CONTROL = ["MEAN", "LEAST"]; // a source of datagrams lacks these columns

const known = (values) => values.filter((value) => !Number.isNaN(value));
const sum = (values) => values.reduce((total, value) => total + value, 0);
const ratio = (part, whole) => (whole ? part / whole : NaN);
const mean = (values) => ratio(sum(known(values)), known(values).length);
const AGGREGATES = {
  SUM: sum,
  MEAN: mean,
  LEAST: (values) => (known(values).length ? known(values).reduce((a, b) => Math.min(a, b)) : NaN),
  MOST: (values) => (known(values).length ? known(values).reduce((a, b) => Math.max(a, b)) : NaN),
};

export function jain(rates) {
  const total = sum(rates), squares = sum(rates.map((rate) => rate * rate));
  return squares ? total * total / (rates.length * squares) : NaN;
}

function percentile(values, share) {
  const ordered = [...values].sort((a, b) => a - b);
  if (!ordered.length) return NaN;
  const place = share * (ordered.length - 1);
  const low = ordered[Math.floor(place)], high = ordered[Math.ceil(place)];
  return low + (place - Math.floor(place)) * (high - low);
}

// For each flow the number of its first connection and of the one after its last.
export function connectionsOf(source, flows) {
  const ends = [0];
  for (let flow = 0, at = 0; flow < flows; flow++) {
    while (at < source.length && source[at] === flow) at++;
    ends.push(at);
  }
  return ends.slice(1).map((end, flow) => [ends[flow], end]);
}

// `tables` has the columns of connections, forward and backward, by name.
export function rows({ duration_s: simulated_s, flows }, seed, tables) {
  const spans = connectionsOf(tables.connections.source, flows.length);
  const made = flows.map((flow, place) => {
    const values = (column) => Array.from(tables.connections[column].subarray(...spans[place]));
    return { flow: flow.name, cc: flow.cc, seed, ...rowOfFlow(flow, values, simulated_s, spans[place]) };
  });
  const goodputs = made.filter((row) => row.cc !== UDP).map((row) => row.goodput_bps);
  const whole = ofRun(tables, goodputs, simulated_s);
  const share = goodputs.length ? sum(goodputs) / goodputs.length : NaN;
  return made.map((row) => ({ ...row, friendliness: ratio(row.goodput_bps, row.cc === UDP ? 0 : share), ...whole }));
}

function rowOfFlow(flow, values, simulated_s, [first, last]) {
  const isTcp = flow.cc !== UDP;
  const total = (column) => sum(values(column));
  const active_s = activeTime(flow, values, simulated_s);
  const rate = (column) => (active_s > 0 ? (8 * total(column)) / active_s : 0);
  const row = { goodput_bps: rate("delivered_bytes"), throughput_bps: rate("ip_bytes_at_sink") };
  for (const { name, aggregate } of D.flow_columns)
    if (aggregate !== "INNER")
      row[name] = isTcp || !OF_CONGESTION_CONTROL.includes(aggregate) ? AGGREGATES[aggregate](values(name)) : NaN;
  const starts = values("start_s");
  const completions = known(values("completed_s").map((end, i) => end - starts[i]));
  return {
    ...row,
    retransmission_ratio: ratio(total("retransmitted"), isTcp ? total("sent") : 0),
    loss_ratio: ratio(total("queue_drops") + total("lost"), total("sent")),
    receiver_limited: reported(mean(values("receiver_limited_s")) / simulated_s),
    transfers: last - first,
    completed: completions.length,
    completion_s: mean(completions),
    completion_p50_s: percentile(completions, 0.5),
    completion_p95_s: percentile(completions, 0.95),
  };
}

const LIMITED_LEAST = 0.1; // of the run; a shorter limit is not reported
const reported = (share) => (share > LIMITED_LEAST ? share : NaN);

// Returns the seconds from a flow's start to its end, or to the last arrival of its data if that is later. A flow
// with arrivals, or without an end, lasts until the run ends.
function activeTime(flow, values, simulated_s) {
  if (flow.arrives) return simulated_s - flow.start_s;
  const [completed_s] = values("completed_s");
  const [last_arrival_s] = values("last_arrival_s");
  const end_s = Number.isNaN(completed_s) ? flow.stop_s : completed_s;
  return (last_arrival_s > end_s ? last_arrival_s : end_s) - values("start_s")[0];
}

function ofRun(tables, goodputs, simulated_s) {
  const utilisation = [...tables.forward.utilisation, ...tables.backward.utilisation];
  const waited_s = [...tables.forward.waited_s, ...tables.backward.waited_s];
  const most = Math.max(...utilisation);
  return {
    jain: jain(goodputs),
    utilisation: most,
    mean_queue: waited_s[utilisation.indexOf(most)] / simulated_s,
    simulated_s,
  };
}
