// SPDX-License-Identifier: BSD-3-Clause
// An error in a user's input, in one line: where, the value, what was expected.

const LONGEST_VALUE = 60;
const NEAR = 2; // characters that differ

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
    text = JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}` : inner)) ?? String(value);
  } catch {
    text = String(value);
  }
  text = text.replace(/\s+/g, " ");
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}

// Names the known name that was probably meant, or all of them, as plan/section.cpp does.
export function expectedOne(names, name) {
  const meant = names.find((known) => distance(known, String(name)) <= NEAR);
  return meant ? `did you mean "${meant}"?` : `expected one of: ${names.join(", ")}`;
}

// The least number of characters to insert, remove or replace.
function distance(a, b) {
  if (Math.abs(a.length - b.length) > NEAR) return Infinity;
  let row = [...Array(b.length + 1).keys()];
  for (const letter of a) {
    const above = row;
    row = [above[0] + 1];
    for (let i = 0; i < b.length; i++) row.push(Math.min(row[i] + 1, above[i + 1] + 1, above[i] + (letter !== b[i])));
  }
  return row.at(-1);
}

// Runs `work`; adds this key to a problem.
export function within(key, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Problem ? error.within(key) : error;
  }
}
