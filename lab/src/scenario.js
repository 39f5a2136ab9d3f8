// SPDX-License-Identifier: BSD-3-Clause
// The page holds a scenario as TOML has it, in tables. This completes one from its profile and checks it, as
// westwood/scenario does; the declarations (names, kinds, defaults, bounds) are the package's own.

import { D, settingsOf, settingsOfProtocol } from "./declared.js";
import { Problem, suggestion, within } from "./problem.js";
import { isTime, parseAmount, parseFraction, parseProducts, parseQueueTime, parseRate, parseSize, parseTime, UNLIMITED } from "./units.js";

const PS_PER_US = 10n ** 6n;
const NO_LIMIT = -1n;
const LONGEST_PS = BigInt(D.longest_ps);
const SIDES = ["forward", "backward", "both"];
const SPREADS = ["fixed", "exponential"];
const UDP = "udp";

export const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isDatagrams = (flow) => kindOf(flow.app) === UDP;
const kindOf = (app) => (isTable(app) ? app.kind : app);

function whole(value, least, most) {
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Problem("expected a whole number", "", value);
  if (value < least || value > most) throw new Problem(`expected ${least} to ${most}`, "", value);
  return BigInt(value);
}

function bounded(value, least, most, text) {
  if (value < BigInt(least) || value > BigInt(most)) throw new Problem("is out of bounds", "", text);
  return value;
}

export function oneOf(value, words) {
  if (!words.includes(value)) throw new Problem(suggestion(value, words), "", value);
  return value;
}

function name(value) {
  if (typeof value !== "string" || !/^[A-Za-z_+-][A-Za-z0-9_+-]{0,39}$/.test(value))
    throw new Problem("expected a name: letters, digits, _, - and +, not starting with a digit", "", value);
  return value;
}

const span = (value) => bounded(parseTime(value), PS_PER_US, LONGEST_PS, value);

// Converts a scenario's value of a setting into the engine's field; `mss` is a segment's payload.
export function toField(setting, value, mss = 1n) {
  const { kind, least, most } = setting;
  switch (kind) {
    case "SWITCH":
      if (typeof value !== "boolean") throw new Problem("expected true or false", "", value);
      return value ? 1 : 0;
    case "COUNT":
      return whole(value, Number(least), Number(most));
    case "COUNT_OR_NONE":
      return value === 0 ? 0n : whole(value, Number(least), Number(most));
    case "CHOICE":
      return oneOf(value, setting.choices);
    case "PACKETS":
      if (typeof value !== "number" || !(value >= least && value <= most))
        throw new Problem(`expected a number from ${least} to ${most}`, "", value);
      return value;
    case "RATE":
      return bounded(parseRate(value), least, most, value);
    case "TIME":
    case "TIME_OR_NEVER":
      return value === undefined ? NO_LIMIT : bounded(parseTime(value), least, most, value);
    case "SPAN": {
      const ps = bounded(parseTime(value), BigInt(least) * PS_PER_US, BigInt(most) * PS_PER_US, value);
      if (ps % PS_PER_US) throw new Problem("expected a whole number of us", "", value);
      return ps / PS_PER_US;
    }
    case "BYTES":
    case "SIZE_OR_ALL":
      return value === undefined ? NO_LIMIT : bounded(parseSize(value), least, most, value);
    case "SEGMENTS":
    case "SSTHRESH":
      return segments(setting, parseAmount(value, kind === "SEGMENTS"), mss);
  }
  return thousandths(setting, value);
}

function segments({ kind, least, most }, { count, unit }, mss) {
  if (count === null) return NO_LIMIT;
  const low = BigInt(least), high = BigInt(most) < 2n ** 30n ? BigInt(most) : 2n ** 30n;
  if (unit === "p") {
    if (count < low || count > high) throw new Problem(`expected at least ${low}p and at most ${high}p`);
    return count;
  }
  const packets = count / mss;
  if (packets < low) return low;
  return kind === "SEGMENTS" && packets > BigInt(most) ? BigInt(most) : packets;
}

// SHARE and FACTOR_OR_NONE: a probability, or a number that the core stores in thousandths.
function thousandths({ field, kind, least, most }, value) {
  if (!field.endsWith("_permille")) return parseFraction(value);
  const number = typeof value === "string" ? parseFraction(value) : value;
  const permille = Math.round(1000 * number);
  const isNone = kind.endsWith("_OR_NONE") && number === 0;
  if (typeof number !== "number" || !(isNone || (permille >= Number(least) && permille <= Number(most))))
    throw new Problem(`expected ${Number(least) / 1000} to ${Number(most) / 1000}`, "", value);
  if (Math.abs(permille - 1000 * number) > 1e-9) throw new Problem("expected at most three decimals", "", value);
  return permille;
}

// Checks a table's keys: each of `readers` reads its key, and other keys are errors.
function read(table, readers, required, what) {
  if (!isTable(table)) throw new Problem(`expected a table: ${what}`, "", table);
  for (const key of Object.keys(table))
    if (!Object.hasOwn(readers, key)) throw new Problem(`no such key, ${suggestion(key, Object.keys(readers))}`, key);
  for (const key of required) if (table[key] === undefined) throw new Problem("is missing", key);
  const values = {};
  for (const [key, value] of Object.entries(table)) values[key] = within(key, () => readers[key](value));
  return values;
}

const byDeclaration = (settings) =>
  Object.fromEntries(settings.map((one) => [one.name, (value) => toField(one, value)]));
const sideReader = { on: (value) => oneOf(value, SIDES) };
const word = (value) => value;

const twoStates = { good: span, durations: (value) => oneOf(value, SPREADS), ...sideReader };
const LOSSES = {
  none: [sideReader, []],
  uniform: [{ rate: parseFraction, ...sideReader }, ["rate"]],
  bits: [{ rate: parseFraction, ...sideReader }, ["rate"]],
  script: [{ packets: (value) => ascending(value, true), ...sideReader }, ["packets"]],
  markov: [
    { ...twoStates, bad: span, good_rate: parseFraction, bad_rate: parseFraction },
    ["good", "bad", "bad_rate"],
  ],
  blackout: [{ ...twoStates, bad: (value) => bounded(parseTime(value), 0n, LONGEST_PS, value) }, ["good", "bad"]],
};

function ascending(values, strictly) {
  if (!Array.isArray(values)) throw new Problem("expected a list of whole numbers", "", values);
  let before = 0;
  for (const value of values) {
    if (!Number.isSafeInteger(value) || value < before || (strictly && value === before))
      throw new Problem("expected ascending whole numbers", "", value);
    before = value;
  }
  return values;
}

function readLoss(loss) {
  if (!isTable(loss)) throw new Problem('expected a table such as { kind = "uniform", rate = 0.005 }', "", loss);
  const kind = loss.kind ?? (loss.packets === undefined ? "uniform" : "script");
  within("kind", () => oneOf(kind, Object.keys(LOSSES)));
  const [readers, required] = LOSSES[kind];
  const values = read(loss, { kind: word, ...readers }, required, "loss");
  return { good_rate: 0, durations: kind === "blackout" ? "fixed" : "exponential", ...values, kind };
}

function readQueue(queue) {
  if (!isTable(queue)) throw new Problem('expected a table such as { kind = "droptail", limit = "100p" }', "", queue);
  const kind = queue.kind ?? "droptail";
  within("kind", () => oneOf(kind, ["droptail", "red"]));
  const limit = (text) => {
    if (typeof text === "string" && text.endsWith("bdp")) return { products: parseProducts(text) };
    return isTime(text) ? { time: parseQueueTime(text) } : parseAmount(text);
  };
  const red = kind === "red" ? byDeclaration(settingsOf("red")) : {};
  const values = read(queue, { kind: word, limit, ...red }, kind === "red" ? ["limit", "min", "max"] : ["limit"], "queue");
  if (kind === "red" && values.max <= values.min) throw new Problem("expected more than min", "max", values.max);
  return { ...values, kind };
}

const inScenario = ["rate", "reorder_rate", "reorder_delay"];
const LINK_SETTINGS = settingsOf("link").filter((one) => !inScenario.includes(one.name));
const LINK = {
  name,
  between: (value) => {
    if (!Array.isArray(value) || value.length !== 2) throw new Problem("expected the names of two nodes", "", value);
    value.forEach(name);
    if (value[0] === value[1]) throw new Problem("expected two different nodes", "", value);
    return value;
  },
  rate: (value) => toField(settingsOf("link").find((one) => one.name === "rate"), value),
  trace: (value) =>
    read(value, { forward: (v) => ascending(v, false), backward: (v) => ascending(v, false) }, [], "trace"),
  queue: readQueue,
  loss: readLoss,
  reorder: (value) =>
    read(value, { rate: parseFraction, delay: span, ...sideReader }, ["rate", "delay"], "reorder"),
  ...byDeclaration(LINK_SETTINGS),
};

function completeLink(given, profile) {
  if (!isTable(given)) throw new Problem("expected a table [[link]]", "", given);
  const link = { ...profile.link, ...given };
  if (isTable(link.loss)) link.loss = { ...profile.loss, ...link.loss };
  const built = read(link, LINK, ["name", "between", "delay", "queue"], "link");
  const both = built.trace?.forward?.length && built.trace?.backward?.length;
  if (built.rate === undefined && !both) throw new Problem("is missing", "rate");
  if (built.rate !== undefined && both) throw new Problem("has no effect with a trace of both directions", "rate");
  return { loss: { kind: "none", on: "forward" }, ...built };
}

const OF_DATAGRAMS = D.of_datagrams;
const FLOW_KEYS = { name, from: name, to: name, count: (value) => whole(value, 1, 10_000) };

// Chooses the loss recovery for a flow that does not choose one.
function recoveryOf(cc, profile) {
  const own = D.protocols.find((one) => one.name === cc)?.recovery ?? "";
  return own === "sack" ? profile.sack.recovery ?? own : own || profile.westwood.recovery;
}

function completed(given, profile) {
  const datagrams = isDatagrams(given);
  let cc = given.cc ?? (datagrams ? UDP : undefined);
  if (cc === undefined) throw new Problem("is missing", "cc");
  if (typeof cc === "string") cc = { name: cc };
  if (!isTable(cc)) throw new Problem('expected a protocol such as "westwood+", or a table', "cc", cc);
  const names = [...D.protocols.map((one) => one.name), UDP];
  within("cc", () => oneOf(cc.name, names));
  if (datagrams !== (cc.name === UDP))
    throw new Problem(datagrams ? 'expected "udp", as its app is' : 'expected a protocol, since its app is "bulk"', "cc", cc.name);
  if (datagrams)
    for (const key of Object.keys(given))
      if (!OF_DATAGRAMS.includes(key)) throw new Problem("has no effect on datagrams, or is no key", key, given[key]);
  const known = datagrams ? [] : settingsOfProtocol(cc.name);
  const own = Object.fromEntries(Object.entries(profile.cc).filter(([key]) => known.some((one) => one.name === key)));
  const recovery = given.recovery ?? recoveryOf(cc.name, profile);
  within("recovery", () => oneOf(recovery, D.recoveries.map((one) => one.name)));
  const hasSack = !datagrams && D.recoveries.find((one) => one.name === recovery).uses_sack;
  return { ...profile.flow, ...(hasSack ? profile.sack : {}), ...given, recovery, cc: { ...own, ...cc }, known };
}

function completeFlow(given, profile) {
  if (!isTable(given)) throw new Problem("expected a table [[flow]]", "", given);
  const { known, cc, ...flow } = completed(given, profile);
  const settings = settingsOf("flow");
  const packet = within("packet", () => toField(settings.find((one) => one.name === "packet"), flow.packet));
  const header = within("header", () => toField(settings.find((one) => one.name === "header"), flow.header));
  if (packet <= header) throw new Problem(`expected more than the header of ${header}B`, "packet", flow.packet);
  const mss = packet - header;
  const readers = {
    ...FLOW_KEYS,
    recovery: word,
    app: readApp,
    arrivals: (value) =>
      read(value, { every: span, size: sizeOf, sizes: (v) => oneOf(v, SPREADS) }, ["every", "size"], "arrivals"),
    ...Object.fromEntries(settings.map((one) => [one.name, (value) => toField(one, value, mss)])),
  };
  const built = read(flow, readers, ["name", "from", "to"], "flow");
  const obeyed = { name: word, ...byDeclaration(known) };
  built.cc = within("cc", () => read(cc, obeyed, ["name"], "cc"));
  built.mss = mss;
  checkFlow(built, flow);
  return { count: 1n, app: { kind: "bulk" }, ...built };
}

const sizeOf = (value) => toField(settingsOf("flow").find((one) => one.name === "size"), value);

function readApp(value) {
  const app = isTable(value) ? value : { kind: value };
  const kind = app.kind ?? "bulk";
  within("kind", () => oneOf(kind, ["bulk", UDP]));
  if (kind === "bulk") return read({ ...app, kind }, { kind: word }, [], "app");
  const spread = (one) => oneOf(one, SPREADS);
  const readers = { kind: word, rate: LINK.rate, on: span, off: span, durations: spread, spacing: spread };
  const built = read(app, readers, ["rate"], "app");
  if ((built.on === undefined) !== (built.off === undefined))
    throw new Problem("is missing: a source has both on and off, or neither", built.on === undefined ? "on" : "off");
  return { durations: "fixed", spacing: "fixed", ...built };
}

function checkFlow(built, flow) {
  if (built.from === built.to) throw new Problem("expected another node than the flow comes from", "to", flow.to);
  if (built.receive_window < built.mss)
    throw new Problem(`expected room for a segment of ${built.mss}B`, "receive_window", flow.receive_window);
  for (const [lesser, greater] of D.ordered.flow)
    if (built[greater] < built[lesser]) throw new Problem(`expected at least ${lesser}`, greater, flow[greater]);
  if (!D.recoveries.find((one) => one.name === built.recovery).uses_sack)
    for (const key of D.settings_of_sack)
      if (built[key]) throw new Problem(`expected false, since the recovery "${built.recovery}" has no SACK`, key, true);
  if (built.timestamps && built.header < BigInt(D.stamped_header))
    throw new Problem(`expected at least ${D.stamped_header}B, or timestamps = false`, "header", flow.header);
  if (built.arrivals && built.size !== undefined && built.size !== NO_LIMIT)
    throw new Problem("expected none, since arrivals has a size", "size", flow.size);
  if (built.stop !== undefined && built.stop !== NO_LIMIT && built.stop <= built.start)
    throw new Problem("expected a time after start", "stop", flow.stop);
}

const KEYS = ["name", "duration", "seeds", "profile", "link", "flow", "sweep"];

// The scenario's parts with all their values in the engine's units; throws a Problem if something is wrong.
export function complete(scenario) {
  if (!isTable(scenario)) throw new Problem("expected a scenario", "", scenario);
  for (const key of Object.keys(scenario))
    if (!KEYS.includes(key)) throw new Problem(`no such key, ${suggestion(key, KEYS)}`, key);
  for (const key of ["name", "duration"]) if (scenario[key] === undefined) throw new Problem("is missing", key);
  within("name", () => name(scenario.name));
  const duration = within("duration", () => bounded(parseTime(scenario.duration), 1n, LONGEST_PS, scenario.duration));
  const profile = D.profiles[within("profile", () => oneOf(scenario.profile ?? "rfc", Object.keys(D.profiles)))];
  const parts = {};
  for (const [key, make] of [["link", completeLink], ["flow", completeFlow]]) {
    if (!Array.isArray(scenario[key]) || !scenario[key].length)
      throw new Problem(`expected at least one table [[${key}]]`, key, scenario[key]);
    parts[key] = scenario[key].map((one, place) =>
      within(typeof one?.name === "string" ? one.name : `${key} ${place + 1}`, () => make(one, profile.sections)));
  }
  const built = { duration, ...parts };
  checkTogether(built, scenario);
  return built;
}

function checkTogether({ duration, link, flow }, given) {
  const names = [...link, ...flow].map((one) => one.name);
  for (const one of names) {
    if (names.filter((other) => other === one).length > 1)
      throw new Problem("expected a name that no other link or flow has", "name", one);
    if (KEYS.includes(one)) throw new Problem("is a key of the scenario itself, expected another name", "name", one);
  }
  const nodes = nodesOf(link);
  flow.forEach((one, place) => {
    for (const key of ["from", "to"])
      if (!nodes.includes(one[key]))
        throw new Problem(`no link has this node, ${suggestion(one[key], nodes)}`, `${one.name}.${key}`, one[key]);
    if (one.start >= duration)
      throw new Problem("expected less than the duration", `${one.name}.start`, given.flow[place].start);
  });
}

export const nodesOf = (links) => [...new Set(links.flatMap((one) => one.between))];
