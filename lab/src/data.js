// SPDX-License-Identifier: BSD-3-Clause
// Data from outside: links, files, what the package puts into the page.

import { Problem } from "./problem.js";

const DEEPEST = 20; // tables in tables

export const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// Returns a copy whose tables inherit nothing, so that "__proto__" or "constructor" is a key like any other.
export function copyOf(value, depth = 0) {
  if (depth > DEEPEST) throw new Problem("is nested too deeply");
  if (Array.isArray(value)) return value.map((element) => copyOf(element, depth + 1));
  if (!isTable(value)) return value;
  const table = Object.create(null);
  for (const [key, inner] of Object.entries(value)) table[key] = copyOf(inner, depth + 1);
  return table;
}
