// SPDX-License-Identifier: BSD-3-Clause
// An error in a user's input, in one line: where, the value, what was expected.

const LONGEST_VALUE = 60;
const MOST_NAMES = 24;

export class Problem extends Error {
  constructor(message, key = "", value = undefined) {
    super(message);
    this.key = key;
    this.value = value;
  }

  // The same problem with a key of the enclosing table prepended.
  within(key) {
    return new Problem(this.message, [key, this.key].filter(Boolean).join("."), this.value);
  }

  toString() {
    const value = this.value === undefined ? "" : shown(this.value);
    const what = [this.key, value].filter(Boolean).join(" = ");
    return what ? `${what}: ${this.message}` : this.message;
  }
}

export function shown(value) {
  let text;
  try {
    text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}` : one)) ?? String(value);
  } catch {
    text = String(value);
  }
  text = text.replace(/\s+/g, " ");
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}

// Suggests the nearest of some names, or lists them.
export function suggestion(name, names) {
  const all = [...names];
  const near = typeof name === "string" && all.find((one) => distance(one, name) <= 2);
  if (near) return `did you mean "${near}"?`;
  const left = all.length - MOST_NAMES;
  return `expected one of: ${all.slice(0, MOST_NAMES).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function distance(a, b) {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

// Runs `work`; adds this key to a problem.
export function within(key, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Problem ? error.within(key) : error;
  }
}
