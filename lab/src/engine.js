// SPDX-License-Identifier: BSD-3-Clause
// The engine in WebAssembly (lab/engine.cpp): runs a completed scenario and copies out the data of a picture.

import { D, UDP } from "./declared.js";
import { plan } from "./plan.js";
import { connectionsOf, flowsOf, rows } from "./rows.js";

const EVENTS_BETWEEN_REPORTS = 100_000; // some milliseconds
const CONNECTIONS = 0, FORWARD = 1, BACKWARD = 2, QUEUE = 3, DECISIONS = 4, DROPS = 5, WINDOWS = 6, FIRST_WATCH = 7;
const NAMES = {
  [CONNECTIONS]: ["source", ...D.flow_columns.map((one) => one.name)],
  [FORWARD]: D.direction_columns,
  [BACKWARD]: D.direction_columns,
  [DROPS]: D.drop_columns,
  [WINDOWS]: ["connection", ...D.window_columns],
};

// A C library without files and without an environment.
const wasi = {
  fd_close: () => 8,
  fd_seek: () => 8,
  fd_write: () => 8,
  environ_get: () => 0,
  environ_sizes_get: () => 0,
  proc_exit: () => {
    throw new Error("the engine ended");
  },
};

export class Engine {
  // `report` is called from time to time during a run, with the simulated time reached.
  constructor(module, report = () => {}) {
    const ask = (reached_s) => {
      report(reached_s);
      return EVENTS_BETWEEN_REPORTS;
    };
    this.wasm = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi, page: { ask } }).exports;
    this.wasm._initialize();
    this.names = { ...NAMES, [DECISIONS]: this.#words(this.wasm.decisions()).trim().split(" ") };
  }

  // Runs the scenario and returns its rows; with `view` ({from_s, to_s, bins, link, shown, keeps_rows}) also its curves.
  run(built, seed, view) {
    this.#text(plan(built, seed));
    const { from_s = 0, to_s = 1, bins = 1, channel = 0, keeps_rows = false } = view ?? {};
    const begin = () => this.#guarded(() => this.wasm.begin(from_s, to_s, bins, channel, keeps_rows));
    begin();
    const flows = flowsOf(built);
    if (view && built.flow.some((flow) => flow.arrivals)) {
      // Only a run shows which connections a flow with arrivals has.
      this.#go(false);
      begin();
      this.spans = connectionsOf(this.#column(CONNECTIONS, 0), flows.length);
    } else this.spans = flows.map((_, place) => [place, place + 1]);
    const watched = view ? this.#watch(flows) : [];
    this.#go(Boolean(view));
    const tables = {
      connections: this.#table(CONNECTIONS),
      forward: this.#table(FORWARD),
      backward: this.#table(BACKWARD),
    };
    const result = { rows: rows(built, seed, tables), packets: this.wasm.packets() };
    return view ? { ...result, ...this.#pictures(watched, keeps_rows) } : result;
  }

  // Watches each group of flows with a congestion control; the curves are those of its first connection.
  #watch(flows) {
    const watched = [];
    flows.forEach(({ flow, name }, place) => {
      if (flow.cc.name === UDP) return;
      const [first, last] = this.spans[place];
      const group = watched.at(-1);
      if (group?.flow === flow) group.last = last;
      else if (last > first) watched.push({ flow, name, first, last });
    });
    for (const { flow, first, last } of watched) this.wasm.watch(first, last, Number(flow.mss));
    return watched;
  }

  #pictures(watched, keeps_rows) {
    return {
      curves: watched.map(({ flow, name }, place) => {
        const [cwnd, ssthresh, estimate_bps, rtt_s, acked_bytes] = this.#columns(FIRST_WATCH + place, 5);
        return { name, cc: flow.cc.name, mss: Number(flow.mss), cwnd, ssthresh, estimate_bps, rtt_s, acked_bytes };
      }),
      queue: this.#columns(QUEUE, 2),
      decisions: this.#table(DECISIONS),
      drops: this.#table(DROPS),
      windows: keeps_rows ? this.#table(WINDOWS) : null,
    };
  }

  #text(text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.wasm.text(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
  }

  #go(traced) {
    const done = this.#guarded(() => this.wasm.run(traced));
    if (done === 2) throw new Error(`the simulator rejects it: ${this.#error()}`);
  }

  // An exception of the engine ends it with a trap, after storing its message.
  #guarded(work) {
    try {
      return work();
    } catch (error) {
      throw new Error(this.#error() || `the simulator ended: ${error.message}`);
    }
  }

  #error = () => this.#words(this.wasm.error());

  // The text at this address, up to its terminating zero.
  #words(address) {
    const bytes = new Uint8Array(this.wasm.memory.buffer, address);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  #column(table, column) {
    const length = this.wasm.show(table, column);
    return new Float64Array(this.wasm.memory.buffer, this.wasm.column(), length).slice();
  }

  #columns = (table, count) => Array.from({ length: count }, (_, column) => this.#column(table, column));

  #table(table) {
    const names = this.names[table];
    const columns = this.#columns(table, names.length);
    return Object.fromEntries(names.map((name, place) => [name, columns[place]]));
  }
}
