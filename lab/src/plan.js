// SPDX-License-Identifier: BSD-3-Clause
// Writes a completed scenario as the plan that the engine reads (its words are in wire/plan.hpp). The result is that
// of westwood/engines/network.py and wire.py for the same scenario.

import { D, settingsOf, UDP } from "./declared.js";
import { nodesOf } from "./scenario.js";

const NONE = -1n;
const PS_PER_S = 10n ** 12n;

export function plan(built, seed) {
  const nodes = nodesOf(built.link);
  const limits = queueLimits(built);
  const lines = [`nodes ${nodes.length}`, `duration ${built.duration}`];
  for (const link of built.link) {
    lines.push(`link ${link.between.map((node) => nodes.indexOf(node)).join(" ")}`);
    lines.push(...settings("link", "link", link));
    for (const side of ["forward", "backward"]) lines.push(side, ...direction(link, side, limits));
  }
  for (const flow of built.flow) {
    const one = [`flow ${nodes.indexOf(flow.from)} ${nodes.indexOf(flow.to)} ${flow.cc.name}`, ...flowLines(flow)];
    for (let i = 0; i < flow.count; i++) lines.push(...one);
  }
  return [...lines, `seed ${seed}`, "end", ""].join("\n");
}

// The statements for the declared settings of a part of the engine (link, direction, flow, red, cc).
function settings(section, part, values, prefix = "") {
  return settingsOf(section)
    .filter((one) => one.parts.includes(part) && values[one.name] !== undefined)
    .map((one) => `${prefix}${one.field} ${values[one.name]}`);
}

export const opportunities = (link, side) => link.trace?.[side] ?? [];

// The rate of one direction, or the mean rate of its trace, bit/s.
export function meanRate(link, side) {
  const times = opportunities(link, side);
  if (times.length) return (8 * D.opportunity_bytes * times.length) / (times.at(-1) / 1000);
  return Number(link.rate ?? 0n);
}

function direction(link, side, limits) {
  const isHere = (part) => part && [side, "both"].includes(part.on ?? "forward");
  const rate = link.rate ?? BigInt(Math.max(1000, Math.round(meanRate(link, side))));
  const reorder = isHere(link.reorder) ? link.reorder : { rate: 0, delay: 0n };
  const lines = settings("link", "direction", { ...link, rate, reorder_rate: reorder.rate, reorder_delay: reorder.delay });
  const { count, unit } = limits.get(link);
  const limit = count ?? NONE;
  lines.push(unit === "p" ? `queue ${limit} -1` : `queue -1 ${limit}`);
  lines.push(`loss ${isHere(link.loss) ? loss(link.loss) : "none"}`);
  if (link.queue.kind === "red") lines.push(...settings("red", "red", link.queue, "red."));
  if (opportunities(link, side).length) lines.push(`opportunities ${opportunities(link, side).join(" ")}`);
  return lines;
}

function loss(its) {
  switch (its.kind) {
    case "uniform":
    case "bits":
      return `${its.kind} ${its.rate}`;
    case "script":
      return `script ${its.packets.join(" ")}`;
    case "markov":
    case "blackout": {
      if (its.kind === "blackout" && its.bad === 0n) return "none";
      const rates = its.kind === "markov" ? `${its.good_rate} ${its.bad_rate}` : "0 1";
      return `states ${its.good} ${its.bad} ${rates} ${its.durations === "fixed" ? 1 : 0}`;
    }
  }
  return "none";
}

function flowLines(flow) {
  const its = flow.arrivals ? { ...flow, size: flow.arrivals.size } : flow;
  const lines = settings("flow", "flow", its);
  if (flow.cc.name === UDP) {
    const { rate, on = NONE, off = 0n, durations, spacing } = flow.app;
    return [...lines, `datagrams ${rate} ${on} ${off} ${durations} ${spacing}`];
  }
  lines.push(`recovery ${flow.recovery}`, ...settings("cc", "cc", flow.cc, "cc."));
  if (flow.arrivals) lines.push(`arrivals ${flow.arrivals.every} ${flow.arrivals.sizes ?? "fixed"}`);
  return lines;
}

// The flows' routes: the fewest links, and among equals the first, as the engine chooses them. Each is a list of
// [link, 0: forward or 1: backward].
export function routes(built) {
  const leaving = new Map();
  const leave = (node, hop) => leaving.get(node)?.push(hop) ?? leaving.set(node, [hop]);
  for (const link of built.link) {
    leave(link.between[0], [link.between[1], [link, 0]]);
    leave(link.between[1], [link.between[0], [link, 1]]);
  }
  return built.flow.map(({ from, to }) => {
    const by = new Map();
    const frontier = [from];
    for (const node of frontier)
      for (const [far, hop] of leaving.get(node))
        if (!by.has(far) && far !== from) {
          by.set(far, [node, hop]);
          frontier.push(far);
        }
    const route = [];
    for (let node = to; node !== from; ) {
      if (!by.has(node)) return [];
      const [before, hop] = by.get(node);
      route.unshift(hop);
      node = before;
    }
    return route;
  });
}

// The limit of each link's queue; "1bdp" and "5ms" become packets: westwood/scenario/queue_limits.py.
export function queueLimits(built) {
  const longest = new Map(built.link.map((link) => [link, 2n * link.delay]));
  const some = built.link.some((link) => link.queue.limit.products);
  for (const route of some ? routes(built) : []) {
    const trip = route.reduce((sum, [link]) => sum + 2n * link.delay, 0n);
    for (const [link] of route) if (trip > longest.get(link)) longest.set(link, trip);
  }
  const largest = built.flow.map((flow) => flow.packet).reduce((a, b) => (a > b ? a : b));
  return new Map(
    built.link.map((link) => {
      const { products, time } = link.queue.limit;
      if (!products && !time) return [link, link.queue.limit];
      const [count, unit, held] = products ? [...products, longest.get(link)] : [1n, 1n, time];
      const rate = Math.max(meanRate(link, "forward"), meanRate(link, "backward"));
      const over = count * BigInt(Math.round(rate)) * held;
      const under = unit * PS_PER_S * 8n * (largest + (link.overhead ?? 0n));
      const packets = halfToEven(over, under);
      return [link, { count: packets > 1n ? packets : 1n, unit: "p" }];
    }),
  );
}

function halfToEven(over, under) {
  const whole = over / under, twice = 2n * (over % under);
  return twice > under || (twice === under && whole % 2n) ? whole + 1n : whole;
}
