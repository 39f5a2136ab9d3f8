// SPDX-License-Identifier: BSD-3-Clause
// Controls in users' files. Each is a WebAssembly module with a memory of its own. For each of its calls a frame
// (core/frame.h) is copied there and back.

import { isTable } from "./data.js";
import { Problem } from "./problem.js";

export const isFile = (name) => typeof name === "string" && name.length > 2 && (name.endsWith(".c") || name.endsWith(".py"));

// Returns a scenario whose flows name the contents of their controls by what the engine knows them by; throws a Problem
// if the page lacks one.
export function withOwn(scenario, controls) {
  if (!Array.isArray(scenario.flow)) return scenario;
  return { ...scenario, flow: scenario.flow.map((flow) => (isTable(flow) ? { ...flow, cc: known(flow.cc, controls) } : flow)) };
}

function known(cc, controls) {
  const table = isTable(cc) ? cc : { name: cc };
  if (!isFile(table.name)) return cc;
  const control = controls.find((control) => control.name === table.name);
  if (!control) throw new Problem("this page has no such control, expected one of westwood lab --cc", "cc", table.name);
  if (table.source !== undefined && table.source !== control.contents)
    throw new Problem(`has changed: expected the contents ${found.contents}`, "cc.source", table.source);
  return { ...table, source: control.name };
}

// A control that runs: `memory` returns the engine's memory, where its frame is at `frame`.
export class OwnControl {
  #wasm;

  constructor(facts, { memory, frame, bytes }) {
    Object.assign(this, { facts, memory, frame, bytes });
    this.#start();
    if (this.#wasm.frame_bytes() !== bytes) throw new Error(`${facts.name} was compiled for another version of this page`);
  }

  #start() {
    this.#wasm = new WebAssembly.Instance(this.facts.module, {}).exports;
    this.mine = new Uint8Array(this.#wasm.memory.buffer, this.#wasm.frame(), this.bytes);
  }

  call(number, name) {
    const theirs = new Uint8Array(this.memory(), this.frame, this.bytes);
    this.mine.set(theirs);
    try {
      this.#wasm.call(number);
    } catch (error) {
      throw this.failure(name(), causeOf(error));
    }
    theirs.set(this.mine);
  }

  // The error for a call that went wrong.
  failure(call, problem) {
    const { name, lines } = this.facts;
    return new Problem(`${lines[call] ? `${name}:${lines[call]}` : name}: ${call} ${problem}`);
  }
}

// Says what is wrong as westwood/control does; browsers have words of their own.
function causeOf({ message }) {
  if (/unreachable/i.test(message)) return "overflows, divides by zero, or leaves the bounds of an array or a shift";
  if (/out of bounds/i.test(message)) return "uses memory that is not its own";
  if (/stack|recursion/i.test(message)) return "uses up the stack";
  return `fails: ${message}`;
}
