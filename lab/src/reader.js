// SPDX-License-Identifier: BSD-3-Clause
// The engine in the page itself. It reads scenarios, reads and writes quantities, and computes statistics. The runs are in workers.

import { OWN } from "./declared.js";
import { Engine } from "./engine.js";
import { compiled } from "./runner.js";

let engine;
export const ready = compiled.then((module) => { engine = new Engine(module, OWN); });

// Returns what the scenario has in numbers; throws a Problem if something is wrong with it.
export const read = (scenario) => engine.read(scenario);

// Return quantities in base units: bit/s, ps, and fractions of 1.
export const parseRate = (text) => engine.quantity(text, "rate");
export const parseTime = (text) => engine.quantity(text, "time");
export const parseFraction = (value) => (typeof value === "number" ? value : engine.quantity(value, "fraction"));

// Returns the number and the kind of a quantity whose kind its unit tells: { number, kind }.
export const measure = (text) => engine.measure(text);

// Return the mean, half its interval and the number of values, or those of the ratio of two means.
export const spread = (values) => engine.spread(values);
export const compare = (first, second) => engine.compare(first, second);

// Write quantities in base units.
export const formatRate = (bps) => engine.written(bps, "rate");
export const formatTime = (ps) => engine.written(ps, "time");

// The channel of a link by which data of the last scenario read crosses it.
export const crossing = (link) => engine.crossing(link);
