// SPDX-License-Identifier: BSD-3-Clause
// An error in a user's input, in one line: where, the value, what was expected.

const LONGEST_VALUE = 60;

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

export const expectedOne = (names) => `expected one of: ${[...names].join(", ")}`;

// Runs `work`; adds this key to a problem.
export function within(key, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Problem ? error.within(key) : error;
  }
}
