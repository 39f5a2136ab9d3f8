// SPDX-License-Identifier: BSD-3-Clause
// Decides a preset's claims at the present setting: runs what their conditions compare, on a few seeds, in a worker of
// its own. The package supplies the conditions and their bounds: papers/checks/bounds.py.

import { copyOf } from "./data.js";
import { D } from "./declared.js";
import { Problem } from "./problem.js";
import { compare, measure, spread } from "./reader.js";
import { Runner } from "./runner.js";
import { assign, limitByTime, valueOf } from "./state.js";

const SEEDS = 5; // at most
const ENOUGH_MS = 3000; // no seed starts after it
const QUIET_MS = 60; // without a change of the setting

export class Judge {
  #runner = new Runner(1);
  #wanted = ""; // the setting to decide the claims at

  // Calls `tell` after each seed with a finding for each claim of the state's preset, until follow() is called with
  // another setting. Zooming or showing another control is not another setting.
  async follow(state, tell) {
    const setting = settingOf(state);
    if (this.#wanted === setting) return;
    this.#wanted = setting;
    const bounds = (D.presets[state.preset]?.claims ?? []).map((claim) => claim.bounds);
    const others = (why) => bounds.map((bound) => ({ why: bound.conditions ? why : bound }));
    let runs;
    try {
      if (state.together) throw new Problem("the claim compares controls on separate networks");
      runs = runsOf(state, bounds);
    } catch (error) {
      tell(others(`Not decided at this setting: ${error}.`));
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
      const results = await this.#runner.run({ runs: [...runs.values()], seed });
      if (!results || this.#wanted !== setting) return;
      seeds.push(new Map([...runs.keys()].map((key, place) => [key, results[place].rows])));
      const isLast = seeds.length === SEEDS || performance.now() - began_ms > ENOUGH_MS;
      tell(bounds.map((bound) => (bound.conditions ? { ...findingOf(bound, seeds, state), first: state.seed, seeds: seeds.length, isLast } : { why: bound })));
      if (isLast) return;
    }
  }

  isOf = (state) => this.#wanted === settingOf(state);

  // Stops deciding claims.
  leave() {
    this.#wanted = "";
  }

  stop() {
    this.leave();
    this.#runner.stop();
  }
}

const settingOf = ({ scenario, preset, seed, together, queue_ms, link }) => JSON.stringify([scenario, preset, seed, together, queue_ms, queue_ms && link]);
const keyOf = (setting) => JSON.stringify(setting);

// Holds the runs that the conditions compare, by their settings.
function runsOf(state, bounds) {
  const runs = new Map();
  for (const { conditions = [] } of bounds)
    for (const { of, over } of conditions)
      for (const { at, column } of [of, ...(over ? [over] : [])]) {
        const scenario = copyOf(state.scenario);
        for (const [key, value] of Object.entries(at)) assign(scenario, key, copyOf(value));
        if (state.queue_ms !== undefined) limitByTime({ ...state, scenario });
        const run = runs.get(keyOf(at)) ?? { scenario, observe: [] };
        if (D.observed.includes(column)) run.observe.push(column);
        runs.set(keyOf(at), run);
      }
  return runs;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// A term's values, one per seed.
function valuesOf({ cc, at, column, flow }, seeds) {
  return seeds.map((rows) => mean(rows.get(keyOf(at)).filter((row) => row.cc === cc && (!flow || row.flow === flow)).map((row) => row[column])));
}

function findingOf(bound, seeds, state) {
  const measured = bound.conditions.map((condition) => ({ condition, ...decide(condition, seeds) }));
  const isKnown = measured.every(({ ratio }) => !Number.isNaN(ratio));
  const verdict = !isKnown ? "" : measured.every((measurement) => measurement.holds) ? "HOLDS" : "DIFFERS";
  return { verdict, measured, aside: aside(bound.among, state) };
}

function decide({ of, over, by, within: { least, most, strict } }, seeds) {
  const measured = over ? compare(valuesOf(of, seeds), valuesOf(over, seeds)) : spread(valuesOf(of, seeds));
  const { mean: middle, runs } = measured;
  const half = runs < 2 ? 0 : measured.half; // a single run shows no spread
  const [low, high] = [(middle - half) / by, (middle + half) / by];
  const isOver = strict ? low > least : low >= least;
  const isUnder = most === null || (strict ? high < most : high <= most);
  return { ratio: middle / by, half: half / by, holds: isOver && isUnder };
}

const numberOf = (value) => (typeof value === "number" ? value : measure(value).number);

// Describes how the setting lies outside the range of the claim.
function aside(among, { scenario }) {
  if (!among) return "";
  const value = valueOf(scenario, among.key);
  const isOutside = (bound, sign) => bound !== null && sign * numberOf(value) < sign * numberOf(bound);
  if (value !== undefined && !isOutside(among.least, 1) && !isOutside(among.most, -1)) return "";
  const from = among.least === null ? " up" : ` from ${among.least}`;
  const to = among.most === null ? " on" : ` to ${among.most}`;
  return `The claim is about ${among.key}${from}${to}${value === undefined ? "" : `; this setting has ${value}`}.`;
}

// A ratio with enough digits to distinguish it from its bounds, and half its interval.
export function ratioText({ ratio, half, condition: { within: { least, most } } }) {
  const digits = [3, 4, 5, 6].find((count) => ![least, most].some((bound) => bound !== null && +shown(bound) === +ratio.toPrecision(count)));
  const text = ratio >= 1000 ? ratio.toFixed(0) : ratio.toPrecision(digits ?? 3);
  return half ? `${text} ± ${half.toPrecision(2)}` : text;
}

export function wantedText({ within: { least, most, strict } }) {
  if (most === null) return `${strict ? "above" : "at least"} ${shown(least)}`;
  if (!least) return `at most ${shown(most)}`;
  return `${shown(least)} to ${shown(most)}`;
}

const shown = (bound) => `${+bound.toPrecision(3)}`;

// The most informative condition: one that fails, or else the one nearest to failing.
export function tightest(measured) {
  const room = ({ ratio, condition: { within: { least, most } } }) =>
    Math.min(least ? Math.log(ratio / least) : Infinity, most === null ? Infinity : Math.log(most / ratio));
  const failing = measured.filter((measurement) => !measurement.holds);
  return (failing.length ? failing : measured).reduce((a, b) => (room(b) < room(a) ? b : a));
}
