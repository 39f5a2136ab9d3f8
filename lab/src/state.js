// SPDX-License-Identifier: BSD-3-Clause
// Everything on the page follows from its state, which a link contains:
//
//   scenario   as in TOML, without a sweep
//   lines      up to four runs side by side: the settings of each, such as { "tcp.cc": "westwood+" }
//   others     lines of the scenario that are not shown at present
//   together   true: the lines' controls share one network, as flows of one run
//   link       name of the link that is shown and that the controls change; absent: the slowest
//   seed, preset, queue_ms (the limit follows the rate), view (from_s, to_s; absent: all)

import { copyOf, isTable } from "./data.js";
import { D, OWN, labelOf } from "./declared.js";
import { Problem, within } from "./problem.js";
import { parseRate, parseTime, read } from "./reader.js";
import { isDatagrams } from "./scenario.js";
import { tomlValue, writeToml } from "./toml.js";

export const MOST_LINES = 4;
const MOST_OTHERS = 60;
const SHORT_S = 60;
const MOST_SEEDS = 1_000_000;
const KEYS = ["v", "scenario", "lines", "others", "together", "seed", "preset", "queue_ms", "link", "view"];

const isControl = (key) => key === "cc" || key.endsWith(".cc");

// Sets what `key` addresses, as `--set` does: KEY, NAME.KEY or *.KEY.
export function assign(scenario, key, value) {
  const [first, ...rest] = key.split(".");
  if (!rest.length) {
    scenario[key] = value;
    return;
  }
  const parts = [...scenario.link, ...scenario.flow].filter(
    (part) => part.name === first || (first === "*" && scenario.flow.includes(part) && !isDatagrams(part)),
  );
  if (!parts.length) throw new Problem("no link or flow has this name", key, value);
  for (const part of parts) {
    let table = part;
    for (const step of rest.slice(0, -1)) {
      if (step === "cc" && typeof table.cc === "string") table.cc = copyOf({ name: table.cc });
      table[step] ??= copyOf({});
      table = table[step];
      if (!isTable(table)) throw new Problem("is no table", key, value);
    }
    table[rest.at(-1)] = value;
  }
}

// The link that is shown: the chosen one, or that with the lowest rate.
export function linkOf({ scenario, link }) {
  const rate = (link) => (link.rate === undefined ? Infinity : parseRate(link.rate));
  return scenario.link.find(({ name }) => name === link) ?? scenario.link.reduce((least, link) => (rate(link) < rate(least) ? link : least));
}

// Limits its queue to the bytes that its rate transmits in queue_ms.
export function limitByTime(state) {
  const link = linkOf(state);
  const bytes = Math.round((parseRate(link.rate) * state.queue_ms) / 8000);
  link.queue = { ...(link.queue ?? {}), limit: `${Math.min(2 ** 30, Math.max(1, bytes))}B` };
}

export const flowsWithControl = (scenario) => scenario.flow.filter((flow) => !isDatagrams(flow));

// The key with which a line sets the control: that of the only flow with a control, or of all flows.
export function controlKey(scenario) {
  const flows = flowsWithControl(scenario);
  return flows.length === 1 ? `${flows[0].name}.cc` : "*.cc";
}

const ccName = (cc) => (isTable(cc) ? cc.name : cc);

// Makes a state from a scenario: swept controls become lines. Other swept keys take their first value unless the
// scenario sets one itself.
export function stateOf(scenario, preset) {
  const base = copyOf(scenario);
  if (!isTable(base)) throw new Problem("expected a scenario", "", base);
  const { sweep = {} } = base;
  delete base.sweep;
  if (!isTable(sweep)) throw new Problem("expected a table", "sweep", sweep);
  checkParts(base);
  let lines = [{}];
  for (const [key, values] of Object.entries(sweep)) {
    if (!Array.isArray(values) || !values.length) throw new Problem("expected a list of values", `sweep.${key}`, values);
    if (isControl(key)) lines = lines.flatMap((line) => values.map((value) => ({ ...line, [key]: value })));
    else if (valueOf(base, key) === undefined) assign(base, key, usual(base, key, values));
  }
  if (lines.length === 1 && !Object.keys(lines[0]).length) {
    const [flow] = flowsWithControl(base);
    const names = new Set(flowsWithControl(base).map((flow) => ccName(flow.cc)));
    if (flow && names.size === 1 && typeof flow.cc === "string") lines = [{ [controlKey(base)]: flow.cc }];
  }
  // If there are more, takes the last: papers name their own controls after those that they compare with.
  const state = { scenario: base, lines: lines.slice(-MOST_LINES), seed: 1 };
  if (lines.length > MOST_LINES) state.others = lines.slice(0, -MOST_LINES);
  if (preset) state.preset = preset;
  return checked(state);
}

// The preset's swept keys other than controls, with their values: the points of the paper's figure.
export const pointsOf = (preset) =>
  Object.entries(D.presets[preset]?.scenario.sweep ?? {}).filter(([key]) => !isControl(key));

// Chooses the profile's value if it is swept, otherwise the first.
function usual({ profile = "rfc" }, key, values) {
  const known = D.profiles[profile]?.sections.flow[key.split(".").at(-1)];
  return values.includes(known) ? known : values[0];
}

// The value of `key`, if the scenario has one.
export function valueOf(scenario, key) {
  const [first, ...rest] = key.split(".");
  let value = partOf(scenario, first);
  for (const step of rest) value = isTable(value) ? value[step] : undefined;
  return value;
}

// Opens a preset; a long one begins zoomed to a part in which a single sawtooth is visible.
export function ofPreset(name) {
  const state = stateOf(D.presets[name].scenario, name);
  const whole_s = parseTime(state.scenario.duration) / 1e12;
  if (whole_s > 2 * SHORT_S) state.view = { from_s: whole_s / 4, to_s: whole_s / 4 + SHORT_S };
  return state;
}

// Returns a copy of the state if the engine accepts every run of it; throws a Problem otherwise.
export function checked(given) {
  const state = copyOf(given);
  for (const key of Object.keys(state)) if (!KEYS.includes(key)) throw new Problem("no such key", key);
  const { lines, others = [], seed } = state;
  const isLine = (line) => isTable(line) && Object.keys(line).length <= 8;
  const areLines = (all, least, most) => Array.isArray(all) && all.length >= least && all.length <= most && all.every(isLine);
  if (!areLines(lines, 1, MOST_LINES)) throw new Problem(`expected 1 to ${MOST_LINES} lines`, "lines", lines);
  if (!areLines(others, 0, MOST_OTHERS)) throw new Problem(`expected at most ${MOST_OTHERS} controls that are not shown`, "others", others);
  if (!Number.isInteger(seed) || seed < 1 || seed > MOST_SEEDS)
    throw new Problem(`expected a whole number from 1 to ${MOST_SEEDS}`, "seed", seed);
  if (state.preset !== undefined && !Object.hasOwn(D.presets, state.preset))
    throw new Problem("no such preset", "preset", state.preset);
  if (state.queue_ms !== undefined && !(state.queue_ms > 0 && state.queue_ms <= 100_000))
    throw new Problem("expected up to 100000 ms", "queue_ms", state.queue_ms);
  if (state.view !== undefined) checkView(state.view);
  if (!isTable(state.scenario)) throw new Problem("expected a scenario", "scenario", state.scenario);
  checkParts(state.scenario);
  if (state.link !== undefined && !state.scenario.link.some(({ name }) => name === state.link))
    throw new Problem("no such link", "link", state.link);
  if (state.scenario.sweep !== undefined) throw new Problem("expected none: lines replace it", "sweep");
  for (const run of runsOf(state)) read(run.scenario);
  for (const run of runsOf({ scenario: state.scenario, lines: others })) read(run.scenario);
  return state;
}

// Shows another line, in place of the first one if there are too many.
export function exchange(state, place) {
  const [line] = state.others.splice(place, 1);
  if (state.lines.length >= MOST_LINES) state.others.splice(place, 0, state.lines.shift());
  state.lines.push(line);
}

// Removes a line from the page; a line that the scenario compares can be shown again.
export function leaveOut(state, place) {
  const [line] = state.lines.splice(place, 1);
  if (state.others || Object.keys(line).length > 1) (state.others ??= []).push(line);
}

function checkParts(scenario) {
  for (const key of ["link", "flow"])
    if (!Array.isArray(scenario[key]) || !scenario[key].length || !scenario[key].every(isTable))
      throw new Problem(`expected at least one table [[${key}]]`, key, scenario[key]);
}

function checkView(view) {
  const ok = isTable(view) && Number.isFinite(view.from_s) && Number.isFinite(view.to_s);
  if (!ok || view.from_s < 0 || view.to_s <= view.from_s)
    throw new Problem("expected a time and a later one", "view", view);
}

// The runs side by side: a label and a scenario each.
export function runsOf({ scenario, lines, together }) {
  if (together && lines.length > 1) return [{ label: "together", scenario: shared(scenario, lines) }];
  return lines.map((line) => {
    const copy = copyOf(scenario);
    for (const [key, value] of Object.entries(line)) within("lines", () => assign(copy, key, value));
    return { label: labelOfLine(copy, line), scenario: copy };
  });
}

// The flow whose control, and nothing else, the lines set: only then can the lines share its network.
export function flowOfLines(scenario, lines) {
  const flows = flowsWithControl(scenario);
  const keys = new Set(lines.flatMap(Object.keys));
  if (keys.size > 1) return undefined;
  const [key] = keys;
  return flows.find((flow) => key === `${flow.name}.cc`) ?? (flows.length === 1 ? flows[0] : undefined);
}

// One network for all lines: their flow is repeated once for each of them.
function shared(scenario, lines) {
  const copy = copyOf(scenario);
  const first = flowOfLines(copy, lines);
  if (!first) throw new Problem("expected lines that set the control of one flow", "together");
  const place = copy.flow.indexOf(first);
  const copies = lines.map((line, i) => ({ ...first, name: `${first.name.slice(0, 38)}-${"abcd"[i]}`, cc: controlOf(line, first) }));
  copy.flow.splice(place, 1, ...copies);
  return copy;
}

export const controlOf = (line, flow) => Object.entries(line).find(([key]) => isControl(key))?.[1] ?? flow.cc;

export function labelOfLine(scenario, line) {
  const controls = Object.values(line).length ? Object.values(line) : [flowsWithControl(scenario)[0]?.cc ?? "udp"];
  return [...new Set(controls.map((cc) => [labelOf(ccName(cc)), ...parametersOf(cc)].join(", ")))].join(" + ");
}

// The parameters that are set of a control of a user's file.
function parametersOf(cc) {
  const parameters = OWN.find((control) => control.name === ccName(cc))?.parameters ?? [];
  return parameters.filter(({ name }) => cc[name] !== undefined).map(({ name }) => `${name} ${cc[name]}`);
}

// The state with these controls side by side.
export function withControls(state, names) {
  const key = controlKey(state.scenario);
  const lines = [...new Set(names)].map((name) => ({ [key]: name }));
  const { others, ...rest } = state;
  const next = { ...rest, lines: lines.slice(0, MOST_LINES) };
  if (lines.length > MOST_LINES) next.others = lines.slice(MOST_LINES);
  return checked(next);
}

// Sets a parameter of a line's control.
export function setParameter(state, place, name, value) {
  const line = state.lines[place];
  const key = Object.keys(line)[0] ?? controlKey(state.scenario);
  const cc = controlOf(line, flowsWithControl(state.scenario)[0]);
  state.lines[place] = { [key]: { ...(isTable(cc) ? cc : { name: cc }), [name]: value } };
}

// The line's control, if it is one of a user's file and the only one that the line sets.
export function ownOfLine({ scenario, lines }, place) {
  const [flow] = flowsWithControl(scenario);
  const line = lines[place];
  if (!line || !flow || Object.keys(line).length > 1) return undefined;
  const cc = controlOf(line, flow);
  return OWN.some((control) => control.name === ccName(cc)) ? (isTable(cc) ? cc : { name: cc }) : undefined;
}

// The state as a scenario file for the command line, with the lines as its sweep.
export function scenarioFile(state) {
  const runs = runsOf(state);
  if (runs.length === 1) return runs[0].scenario;
  const keys = Object.keys(state.lines[0]);
  const sweep = Object.fromEntries(keys.map((key) => [key, unique(state.lines.map((line) => line[key]))]));
  const { scenario } = runs[0];
  return { ...scenario, sweep };
}

// The number of runs of that file: its sweep has every combination, and the lines may be only a part of them.
export const sizeOfFile = (state) =>
  Object.values(scenarioFile(state).sweep ?? {}).reduce((size, values) => size * values.length, 1);

function unique(values) {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...seen.values()];
}

export const tomlOf = (state) => writeToml(scenarioFile(state));

// The command that prints the rows on the page.
export function commandOf(state) {
  const settings = state.preset && !state.together ? differences(D.presets[state.preset].scenario, state) : null;
  const options = [`--seeds ${state.seed}`, "--json"];
  if (settings === null) return `westwood run ${state.scenario.name}.toml ${options.join(" ")}`;
  const simple = state.lines.map((line) => Object.entries(line)).every(
    (all) => all.length === 1 && typeof all[0][1] === "string" && all[0][0] === controlKey(state.scenario));
  if (!simple) return `westwood run ${state.scenario.name}.toml ${options.join(" ")}`;
  const ccs = state.lines.map((line) => `--cc ${quoted(Object.values(line)[0])}`);
  const sets = Object.entries(settings).map(([key, value]) => `--set ${quoted(`${key}=${tomlValue(value, key)}`)}`);
  return ["westwood run", state.preset, ...ccs, ...sets, ...options].join(" ");
}

const quoted = (word) => (/^[\w./=+*%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// The `--set` options that lead from the preset to the state; null if no such options exist. A key that the preset
// sweeps must be set, or it would be swept; `--cc` does so for NAME.cc.
function differences({ sweep = {}, ...given }, { scenario }) {
  const preset = copyOf(given);
  const swept = {};
  for (const key of Object.keys(sweep)) {
    const [name, ...path] = key.split(".");
    if (name === "*") return null;
    if (path.join(".") === "cc") continue;
    const value = valueOf(scenario, key);
    if (value === undefined) return null;
    assign(preset, key, value);
    swept[key] = value;
  }
  const settings = {};
  for (const key of ["name", "duration", "profile"])
    if (scenario[key] !== preset[key]) settings[key] = scenario[key];
  for (const section of ["link", "flow"]) {
    if (scenario[section].length !== preset[section].length) return null;
    for (const [place, part] of scenario[section].entries()) {
      const before = preset[section][place];
      if (part.name !== before.name || Object.keys(before).some((key) => part[key] === undefined)) return null;
      for (const [key, value] of Object.entries(part))
        if (key !== "cc" && JSON.stringify(value) !== JSON.stringify(before[key])) settings[`${part.name}.${key}`] = value;
    }
  }
  const all = { ...settings, ...swept };
  return Object.values(all).some((value) => value === undefined) ? null : all;
}

const partOf = (scenario, name) => [...scenario.link, ...scenario.flow].find((part) => part.name === name);
