// SPDX-License-Identifier: BSD-3-Clause
// Decides a preset's claims anew where its controls stand: runs what their conditions compare, on a few seeds, in a
// worker of its own. What holds a condition, and within which bounds, is data of the package: papers/checks/here.py.

import { limitByTime } from "./controls.js";
import { D } from "./declared.js";
import { isObserved } from "./observers.js";
import { Problem } from "./problem.js";
import { Runner } from "./runner.js";
import { assign, valueOf } from "./state.js";
import { parseFraction, parseRate, parseTime } from "./units.js";

const SEEDS = D.half_widths.length - 1;
const ENOUGH_MS = 3000; // after which no further seed is begun
const QUIET_MS = 60; // without a move

export class Judge {
  #runner = new Runner(1);
  #wanted = ""; // the setting that is followed

  // Tells after each seed what came of the claims of the state's preset, a finding each, until another setting is
  // followed. To look closer, or at another control, changes none.
  async follow(state, tell) {
    const setting = settingOf(state);
    if (this.#wanted === setting) return;
    this.#wanted = setting;
    const heres = (D.presets[state.preset]?.claims ?? []).map((claim) => claim.here);
    const others = (why) => heres.map((here) => ({ why: here.conditions ? why : here }));
    let runs;
    try {
      if (state.together) throw new Problem("the claim is about networks of their own");
      runs = runsOf(state, heres);
    } catch (error) {
      tell(others(`Not decided here: ${error}.`));
      return;
    }
    if (!runs.size) {
      tell(others(""));
      return;
    }
    await new Promise((done) => setTimeout(done, QUIET_MS));
    const began_ms = performance.now();
    const seeds = [];
    for (let seed = state.seed; seeds.length < SEEDS && this.#wanted === setting; seed++) {
      if (seeds.length && performance.now() - began_ms > ENOUGH_MS) return;
      const results = await this.#runner.run({ runs: [...runs.values()], seed });
      if (!results || this.#wanted !== setting) return;
      seeds.push(new Map([...runs.keys()].map((key, place) => [key, results[place].rows])));
      tell(heres.map((here) => (here.conditions ? { ...found(here, seeds, state), first: state.seed, seeds: seeds.length } : { why: here })));
    }
  }

  isOf = (state) => this.#wanted === settingOf(state);

  // Tells nothing more of what is followed.
  leave() {
    this.#wanted = "";
  }

  stop() {
    this.leave();
    this.#runner.stop();
  }
}

const settingOf = ({ scenario, preset, seed, together, queue_ms }) => JSON.stringify([scenario, preset, seed, together, queue_ms]);
const keyOf = (at) => JSON.stringify(at);

// The runs that the conditions compare, by what each sets.
function runsOf(state, heres) {
  const runs = new Map();
  for (const { conditions = [] } of heres)
    for (const { of, over } of conditions)
      for (const { at, column } of [...of, ...over]) {
        const scenario = structuredClone(state.scenario);
        for (const [key, value] of Object.entries(at)) assign(scenario, key, structuredClone(value));
        if (state.queue_ms !== undefined) limitByTime(scenario, state.queue_ms);
        const run = runs.get(keyOf(at)) ?? { scenario, observe: [] };
        if (isObserved(column)) run.observe.push(column);
        runs.set(keyOf(at), run);
      }
  return runs;
}

const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

// A term's values, a seed each.
function valuesOf({ cc, at, column, flow }, seeds) {
  return seeds.map((rows) => mean(rows.get(keyOf(at)).filter((row) => row.cc === cc && (!flow || row.flow === flow)).map((row) => row[column])));
}

function found(here, seeds, state) {
  const measured = here.conditions.map((condition) => ({ condition, ...measure(condition, seeds) }));
  const isKnown = measured.every(({ ratio }) => !Number.isNaN(ratio));
  const verdict = !isKnown ? "" : measured.every((one) => one.holds) ? "HOLDS" : "DIFFERS";
  return { verdict, measured, aside: aside(here.among, state) };
}

function measure({ of, over, by, within: { least, most, strict }, paired }, seeds) {
  const product = (terms) => terms.reduce((value, term) => value * mean(valuesOf(term, seeds)), 1);
  const above = product(of), below = product(over) * by;
  const ratio = below ? above / below : above ? Infinity : NaN;
  const isOver = strict ? above > least * below : above >= least * below;
  const isUnder = most === null || (strict ? above < most * below : above <= most * below);
  return { ratio: below || above ? ratio : 1, holds: paired ? isNotBelow(of[0], over[0], seeds) : isOver && isUnder };
}

// Seed by seed, `of` is not below `over` beyond the 95 % interval of the mean difference.
function isNotBelow(of, over, seeds) {
  const [one, two] = [valuesOf(of, seeds), valuesOf(over, seeds)];
  const differences = one.map((value, i) => value - two[i]);
  const middle = mean(differences);
  const variance = differences.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, seeds.length - 1);
  return middle >= -Math.sqrt(variance) * D.half_widths[seeds.length];
}

const READERS = [(value) => Number(parseTime(value)), (value) => Number(parseRate(value)), (value) => parseFraction(value)];

function numberOf(value) {
  if (typeof value === "number") return value;
  for (const read of READERS)
    try {
      return read(value);
    } catch {
      // it is of another kind
    }
  return NaN;
}

// What of the setting lies outside of what the claim is about, in words.
function aside(among, { scenario }) {
  if (!among) return "";
  const value = valueOf(scenario, among.key);
  const isOutside = (bound, sign) => bound !== null && sign * numberOf(value) < sign * numberOf(bound);
  if (value !== undefined && !isOutside(among.least, 1) && !isOutside(among.most, -1)) return "";
  const from = among.least === null ? " up" : ` from ${among.least}`;
  const to = among.most === null ? " on" : ` to ${among.most}`;
  return `The claim is about ${among.key}${from}${to}${value === undefined ? "" : `; here it is ${value}`}.`;
}

// How a ratio is said, in as many digits as tell it from its bounds, and what is wanted of it.
export function ratioText({ ratio, condition: { within: { least, most } } }) {
  const digits = [3, 4, 5, 6].find((count) => ![least, most].includes(+ratio.toPrecision(count)));
  return ratio >= 1000 ? ratio.toFixed(0) : ratio.toPrecision(digits ?? 3);
}

export function wantedText({ within: { least, most, strict }, paired }) {
  if (paired) return "not below 1 beyond the interval of the seeds' differences";
  if (most === null) return `${strict ? "above" : "at least"} ${least}`;
  if (!least) return `at most ${most}`;
  return `${+least.toPrecision(6)} to ${+most.toPrecision(6)}`;
}

// Of some conditions that which tells most: one that fails, and of those that hold the nearest to failing.
export function tightest(measured) {
  const room = ({ ratio, condition: { within: { least, most } } }) =>
    Math.min(least ? Math.log(ratio / least) : Infinity, most === null ? Infinity : Math.log(most / ratio));
  const failing = measured.filter((one) => !one.holds);
  return (failing.length ? failing : measured).reduce((a, b) => (room(b) < room(a) ? b : a));
}
