// SPDX-License-Identifier: BSD-3-Clause
// Scenarios as TOML: read by smol-toml, written as `westwood` writes them.

import { parse } from "smol-toml";
import { D } from "./declared.js";
import { Problem } from "./problem.js";

const LARGEST_FILE = 8_000_000; // bytes
// The keys of probabilities and weights.
const SHARES = new Set([...D.queues, ...D.losses, ...D.impairments, ...D.apps].flatMap(({ settings }) => settings.filter((setting) => setting.kind === "SHARE").map((setting) => setting.key)));
const BARE = /^[A-Za-z0-9_-]+$/;

const checkSize = (size) => {
  if (size > LARGEST_FILE) throw new Problem("expected a scenario file of at most 8 MB");
};

// Reads a file that somebody chose or dropped; one that is too large is not read at all.
export async function readTomlFile(file) {
  checkSize(file.size);
  return readToml(await file.text());
}

export function readToml(text) {
  checkSize(text.length);
  try {
    return parse(text);
  } catch (error) {
    throw new Problem(`is not TOML: ${String(error.message).split("\n")[0]}`);
  }
}

export function tomlValue(value, key = "") {
  if (Array.isArray(value)) return `[${value.map((one) => tomlValue(one)).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value).map(([inner, entry]) => `${tomlKey(inner)} = ${tomlValue(entry, inner)}`).join(", ")} }`;
  // A whole 1 may mean 1 % or 100 %: the command line rejects it.
  if (value === 1 && SHARES.has(key)) return "1.0";
  if (typeof value === "number") return String(value).replace(/^(\d)e/, "$1.0e");
  return JSON.stringify(value);
}

const tomlKey = (key) => (BARE.test(key) ? key : JSON.stringify(key));

// Writes a scenario with its tables [[link]], [[flow]] and [sweep].
export function writeToml(scenario) {
  const lines = [];
  for (const [key, value] of Object.entries(scenario))
    if (!["link", "flow", "sweep"].includes(key)) lines.push(`${tomlKey(key)} = ${tomlValue(value, key)}`);
  for (const section of ["link", "flow"])
    for (const part of scenario[section]) {
      lines.push("", `[[${section}]]`);
      for (const [key, value] of Object.entries(part)) lines.push(`${tomlKey(key)} = ${tomlValue(value, key)}`);
    }
  const sweep = Object.entries(scenario.sweep ?? {});
  if (sweep.length) lines.push("", "[sweep]");
  for (const [key, values] of sweep) lines.push(`${JSON.stringify(key)} = ${tomlValue(values)}`);
  return `${lines.join("\n")}\n`;
}
