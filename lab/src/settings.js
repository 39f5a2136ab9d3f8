// SPDX-License-Identifier: BSD-3-Clause
// Fields for what the engine declares: the settings of queues, losses, impairments and applications. Their kinds,
// bounds and descriptions come from the declarations, so a new setting needs no line here.

import { formatRate, formatTime, measure, parseFraction, parseRate, parseTime } from "./reader.js";

const AROUND = 100; // a slider reaches this many times the usual value, and as far below it
const PS = 1e-12;

export const three = (value) => Number(value.toPrecision(3));
export const rateText = (bps) => formatRate(three(bps));
export const timeText = (s) => formatTime(Math.round(three(s) * 1e9) * 1000);
export const seconds = (text) => parseTime(text) * PS;
export const fraction = (text) => (/^[\d.eE-]+$/.test(text) ? parseFraction(Number(text)) : parseFraction(text));
export const number = (text) => {
  if (!/^\d+(\.\d+)?$/.test(String(text).trim())) throw new Error(`expected a number, not "${String(text).slice(0, 20)}"`);
  return Number(text);
};

const same = (text) => text;
const whole = (value) => String(Math.round(value));
const sizeText = (bytes) => `${Math.round(bytes)}B`;
const bytes = (text) => measure(text).number;

// By the kind of a setting: its number as text and back, what a scenario keeps of the text, and where a slider begins
// and ends whose usual value is 0.
const AMOUNTS = {
  TIME: { toText: timeText, toNumber: seconds, kept: same, around0: [1e-3, 10] },
  TIME_OR_NEVER: {
    toText: (s) => (s > 0 ? timeText(s) : ""), toNumber: (text) => (text ? seconds(text) : 0),
    kept: (text) => text.trim() || undefined, around0: [1e-3, 60],
  },
  RATE: { toText: rateText, toNumber: parseRate, kept: same, around0: [1e3, 1e9] },
  BYTES: { toText: sizeText, toNumber: bytes, kept: same, around0: [1, 1e6] },
  SIZE: { toText: sizeText, toNumber: bytes, kept: same, around0: [1, 1e6] },
  SHARE: { toText: (share) => String(three(share)), toNumber: fraction, kept: fraction, around0: [1e-4, 1] },
  COUNT: { toText: whole, toNumber: number, kept: number, around0: [1, 100] },
  PACKETS: { toText: (packets) => String(three(packets)), toNumber: number, kept: number, around0: [1, 100] },
};

const labelOf = (key) => key[0].toUpperCase() + key.slice(1).replaceAll("_", " ");

// The ends of a setting's slider, within its bounds.
function endsOf({ kind, usual, least, most }) {
  const { toNumber, around0 } = AMOUNTS[kind];
  const unit = kind.startsWith("TIME") ? PS : 1;
  const middle = toNumber(String(usual ?? ""));
  const [low, high] = middle > 0 ? [middle / AROUND, middle * AROUND] : around0;
  return [Math.max(low, least * unit), Math.min(high, most * unit)];
}

// The field of a declared setting. `tableOf` returns the table of a state that has the setting, or nothing if the field is
// hidden; `change` sets keys of that table.
export function fieldOf(setting, id, tableOf, change) {
  const { key, kind, usual, choices, least, what } = setting;
  const field = {
    id, label: labelOf(key), title: what,
    shown: (state) => tableOf(state) !== undefined,
    get: (state) => tableOf(state)[key] ?? usual ?? "",
    set: (state, value) => change(state, { [key]: value }),
  };
  if (kind === "SWITCH") return { ...field, check: true };
  if (choices.length) return { ...field, options: () => choices.map((word) => [word, word]) };
  if (kind === "RATES") return { ...field, set: (state, text) => change(state, { [key]: text.split(",").map((rate) => rate.trim()) }) };
  const { toText, toNumber, kept } = AMOUNTS[kind];
  return {
    ...field, toText, toNumber,
    scale: { of: () => endsOf(setting), log: true, zero: least === 0 || kind === "TIME_OR_NEVER" },
    set: (state, text) => change(state, { [key]: kept(text) }),
  };
}

// A table with these keys changed; undefined removes a key.
export const merged = (table, keys) => Object.fromEntries(Object.entries({ ...table, ...keys }).filter(([, value]) => value !== undefined));

// The values that a kind has to be given, as the page begins with them.
export const neededOf = ({ settings } = { settings: [] }) =>
  Object.fromEntries(settings.filter((setting) => setting.needed).map(({ key, usual }) => [key, usual]));

// A slider's scale, and the place of a value on it from 0 to 1.
export function scaleOf({ scale }, state) {
  const [least, most] = scale.of?.(state) ?? [scale.least, scale.most];
  return { ...scale, least, most };
}

export function toScale({ least, most, log, zero }, value) {
  if (zero && value <= 0) return 0;
  const share = log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  return Math.min(1, Math.max(zero ? 0.02 : 0, share));
}

export function fromScale({ least, most, log, zero }, share) {
  if (zero && share < 0.02) return 0;
  return log ? least * (most / least) ** share : least + (most - least) * share;
}
