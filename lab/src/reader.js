// SPDX-License-Identifier: BSD-3-Clause
// The simulator in the page itself. It only reads: scenarios, and the quantities in them. The runs are in workers.

import { Engine } from "./engine.js";
import { compiled } from "./runner.js";

let engine;
export const ready = compiled.then((module) => { engine = new Engine(module); });

// Returns what the scenario has in numbers; throws a Problem if something is wrong with it.
export const read = (scenario) => engine.read(scenario);

// Return quantities in base units: bit/s, ps, and fractions of 1.
export const parseRate = (text) => engine.quantity(text, "rate");
export const parseTime = (text) => engine.quantity(text, "time");
export const parseFraction = (value) => (typeof value === "number" ? value : engine.quantity(value, "fraction"));

// The channel of a link by which a flow of the last scenario read crosses it.
export const crossing = (flow, link) => engine.crossing(flow, link);
