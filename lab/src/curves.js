// SPDX-License-Identifier: BSD-3-Clause
// The drawn data in numbers: panels over one time axis, each with its lines, from the results of the runs. Both the
// pictures on the page and those in files are made from it.

import { D, OWN, colourOf, labelOf } from "./declared.js";

const MOST_CURVES = 16;
const POINTS = 4; // per bin: lab/gather.hpp
const COARSER = 8;
const PEAK = 1.6; // of the link's rate
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 5], [9, 3, 2, 3, 2, 3], [4, 2], [14, 3, 5, 3]];

const SOFT = "#555555"; // for lines that belong to no protocol

const PANELS = [
  { key: "cwnd", title: "Window", unit: "segments", height: 190 },
  { key: "goodput", title: "Goodput", unit: "Mb/s", height: 110 },
  { key: "estimate", title: "Estimate", unit: "Mb/s", height: 110 },
  { key: "rtt", title: "Round-trip time", unit: "ms", height: 110 },
  { key: "queue", title: "Queue", unit: "packets", height: 110 },
];

// The curves of all runs, or of the first flows of each if there are too many.
function drawn(results) {
  const all = results.flatMap((result, run) =>
    result.curves.map((curve, place) => ({ ...curve, run, place, several: result.curves.length > 1 })),
  );
  const kept = new Set([...all].sort((a, b) => a.place - b.place).slice(0, MOST_CURVES));
  return all.filter((curve) => kept.has(curve));
}

// These curves with their style: each has its protocol's colour, the next ones of that colour have dashes of their own,
// and those after the last dashes a paler colour.
export function curvesOf(results) {
  const seen = new Map();
  return drawn(results).map((curve) => {
    const colour = colourOf(curve.cc);
    const nth = seen.get(colour) ?? 0;
    seen.set(colour, nth + 1);
    const whose = results.length > 1 ? results[curve.run].label : labelOf(curve.cc);
    const label = curve.several ? `${whose}: ${curve.name}` : OWN.some((control) => control.name === curve.cc) ? whose : labelOf(curve.cc);
    return { ...curve, colour: nth < DASHES.length ? colour : paler(colour), dash: DASHES[nth % DASHES.length], label };
  });
}

const paler = (colour) => `#${[1, 3, 5].map((at) => Math.round((parseInt(colour.slice(at, at + 2), 16) + 0xa8) / 2).toString(16).padStart(2, "0")).join("")}`;

// Says what the pictures leave out; "" if it is nothing.
export function drawnText(results) {
  const all = results.flatMap((result) => result.curves);
  const curves = all.length > MOST_CURVES ? `; ${MOST_CURVES} of ${all.length} curves are drawn, those of the first flows` : "";
  const most = Math.max(...all.map(({ connections }) => connections));
  return `${curves}${most > 1 ? `; a curve of up to ${most} connections shows the first, and the goodput of all` : ""}`;
}

const times = (view, count, offset = 0) => {
  const width = (view.to_s - view.from_s) / count;
  return Float64Array.from({ length: count }, (_, i) => view.from_s + (i + offset) * width);
};

// Panels with { x, lines: [{ label, colour, dash, values, thin }], levels, limit }.
export function panelsOf(results, view, { name, side, rate_bps, limit }) {
  const curves = curvesOf(results);
  const x = times(view, view.bins * POINTS);
  const coarse = Math.max(1, Math.floor(view.bins / COARSER));
  const width_s = (view.to_s - view.from_s) / coarse;
  const scaled = (values, by) => values.map((value) => value * by);
  const lines = {
    cwnd: curves.flatMap((curve) => [
      { ...look(curve), values: curve.cwnd },
      { ...look(curve), label: `${curve.label}: ssthresh`, values: curve.ssthresh, thin: true, hidden: true },
    ]),
    estimate: curves
      .filter((curve) => curve.estimate_bps.some((value) => value > 0))
      .map((curve) => ({ ...look(curve), values: scaled(curve.estimate_bps, 1 / (rate_bps ?? 1e6)) })),
    rtt: curves.map((curve) => ({ ...look(curve), values: scaled(curve.rtt_s, 1e3) })),
    queue: results.map((result, run) => {
      const first = curves.find((curve) => curve.run === run);
      const label = results.length > 1 ? result.label : "packets waiting";
      const isOf = results.length > 1 || result.curves.length === 1 ? first : undefined;
      return { ...look(isOf ?? { colour: SOFT, dash: [], run }), label, values: result.queue[0] };
    }),
    goodput: curves.map((curve) => ({ ...look(curve), values: scaled(curve.acked_bytes, 8 / width_s / 1e6) })),
  };
  const estimates = results.some((result) => result.curves.some((curve) => curve.estimate_bps.some((value) => value > 0)));
  const of = {
    queue: { title: name ? `Queue of ${name}${side}` : "Queue of the bottleneck", levels: limit ? [limit] : [] },
    estimate: rate_bps ? { title: `Estimate over the rate of ${name || "the link"}`, unit: "", levels: [1] } : {},
  };
  const panels = PANELS.map((panel) => ({
    ...panel,
    levels: [],
    ...of[panel.key],
    lines: lines[panel.key],
    x: panel.key === "queue" ? times(view, view.bins, 0.5) : panel.key === "goodput" ? times(view, coarse, 0.5) : x,
    // An ACK that fills a hole acknowledges much at once: such a peak may leave the panel.
    // So may an ssthresh that still has its initial value.
    most: panel.key === "goodput" && rate_bps ? (PEAK * rate_bps) / 1e6 : panel.key === "cwnd" ? largest(curves) : Infinity,
    empty: panel.key !== "estimate" ? "" : estimates ? "no curve that is drawn has an estimate" : "none of these controls estimates a rate",
  }));
  return [...panels, ...quantityPanels(curves, x)];
}

// A panel for each quantity that controls of users' files name; those of the same name and unit share one.
function quantityPanels(curves, x) {
  const panels = new Map();
  for (const curve of curves)
    curve.quantities.forEach((values, i) => {
      const { name, unit, what } = OWN.find((control) => control.name === curve.cc).quantities[i];
      const key = `own ${name} ${unit}`;
      const panel = panels.get(key) ?? { key, title: name, unit, what, height: 110, lines: [], x, levels: [], most: Infinity, empty: "" };
      panel.lines.push({ ...look(curve), values });
      panels.set(key, panel);
    });
  return [...panels.values()];
}

const largest = (curves) =>
  curves.reduce((most, { cwnd }) => cwnd.reduce((a, b) => (b > a ? b : a), most), 1);

const look = ({ label, colour, dash, run }) => ({ label, colour, dash, run });

// The times at which links lost data packets, and the colours of the runs.
export function lossesOf(results) {
  const curves = curvesOf(results);
  return results.flatMap(({ drops }, run) => {
    const { colour } = curves.find((curve) => curve.run === run) ?? { colour: SOFT };
    return Array.from(drops.time_s, (time_s, i) => ({ time_s, colour, kind: D.drop_kinds[drops.kind[i]] })).filter(({ kind }) => kind === "wire");
  });
}

// The senders' decisions by time, each with its curve.
export function decisionsOf(results) {
  const curves = curvesOf(results);
  const all = [];
  for (const [run, { decisions }] of results.entries()) {
    const lines = curves.filter((curve) => curve.run === run);
    const columns = Object.entries(decisions);
    decisions.time_s.forEach((_, i) => {
      const curve = lines[decisions.watch[i]];
      if (!curve) return;
      const entry = { curve };
      for (const [key, values] of columns) entry[key] = values[i];
      entry.kind = D.event_kinds[entry.kind];
      all.push(entry);
    });
  }
  return all.sort((a, b) => a.time_s - b.time_s);
}
