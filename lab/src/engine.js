// SPDX-License-Identifier: BSD-3-Clause
// The engine in WebAssembly (lab/engine.cpp): reads a scenario, runs it and copies out the data of a picture.

import { isTable } from "./data.js";
import { UDP } from "./declared.js";
import { OwnControl, withOwn } from "./own.js";
import { Problem } from "./problem.js";
import { profileOf, protocolOf } from "./scenario.js";

const EVENTS_BETWEEN_REPORTS = 100_000; // some milliseconds
const ROWS = 0, QUEUE = 1, DECISIONS = 2, DROPS = 3, WINDOWS = 4, FLOWS = 5, LINKS = 6, FIRST_WATCH = 7;
const CURVES = 5; // of a watch, before the quantities of its control
const QUANTITIES = ["rate", "time", "fraction"];
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
  // `report` is called from time to time during a run, with the simulated time reached. `own` are the controls of
  // users' files; only with their modules can they run.
  constructor(module, controls = [], report = () => {}) {
    const ask = (reached_s) => {
      report(reached_s);
      return EVENTS_BETWEEN_REPORTS;
    };
    const call = (control, number, name) => this.running[control].call(number, () => this.#words(name));
    const refuse = (control, name, problem) => {
      throw this.running[control].failure(this.#words(name), this.#words(problem));
    };
    this.own = controls;
    this.start = () => {
      this.wasm = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi, page: { ask, call, refuse } }).exports;
      this.wasm._initialize();
      this.#addOwn();
    };
    this.start();
    const tables = [ROWS, QUEUE, DECISIONS, DROPS, WINDOWS, FLOWS, LINKS];
    this.names = tables.map((table) => this.#words(this.wasm.names(table)).trim().split(" "));
  }

  #addOwn() {
    const { wasm } = this;
    for (const { name, label, traits, like, state_bytes, calls, parameters, quantities } of this.own) {
      this.#give({ name, label, traits, like, state_bytes, calls, parameters, quantity_count: quantities.length });
      wasm.add_control();
    }
    const place = { memory: () => wasm.memory.buffer, frame: wasm.frame(), bytes: wasm.frame_bytes() };
    this.running = this.own.filter((control) => control.module).map((control) => new OwnControl(control, place));
  }

  // Reads a scenario, which is then the one to run. Returns its links, and its flows one by one (NAME-1, NAME-2... of a
  // group with a count), with their numbers; throws a Problem if something is wrong.
  read(scenario) {
    const { sections } = profileOf(scenario);
    this.#refused(() => {
      this.#give(sections);
      this.wasm.profile();
      this.#give(withOwn(scenario, this.own));
      this.wasm.read();
    });
    const flows = scenario.flow.flatMap((flow, group) => {
      const { name, count = 1 } = flow;
      return Array.from({ length: count }, (_, i) => ({ name: count > 1 ? `${name}-${i + 1}` : name, cc: protocolOf(flow), group }));
    });
    const links = this.#with(LINKS, scenario.link.map(({ name }) => ({ name })));
    return { duration_s: this.wasm.duration_s(), flows: this.#with(FLOWS, flows), links };
  }

  // Returns a quantity in base units; throws a Problem if the text is none.
  quantity(text, kind) {
    return this.#refused(() => {
      this.#text(String(text));
      return this.wasm.quantity(QUANTITIES.indexOf(kind));
    });
  }

  // Returns the number of a quantity in base units, and its kind, which its unit tells; "" if it has none.
  measure(text) {
    this.#text(String(text));
    const number = this.wasm.measure();
    return { number, kind: this.#words(this.wasm.text_of()) };
  }

  // Returns the mean of the numbers that are not NaN, half its interval, and how many they are.
  spread = (values) => this.#statistic("spread", values);

  // Returns the ratio of two means, compared pair by pair, half its interval, and the number of pairs.
  compare = (first, second) => this.#statistic("compare", [...first, ...second]);

  #statistic(name, values) {
    new Float64Array(this.wasm.memory.buffer, this.wasm.numbers(values.length), values.length).set(values);
    this.wasm[name]();
    const [mean, half, runs] = new Float64Array(this.wasm.memory.buffer, this.wasm.column(), 3);
    return { mean, half, runs };
  }

  // Writes a quantity in base units as text that reads back as the same number.
  written = (number, kind) => this.#words(this.wasm.written(QUANTITIES.indexOf(kind), Math.round(number)));

  // Returns an observed column of the last run's first flow; the run has kept its rows.
  observe(column, link) {
    this.#text(column);
    return this.wasm.observe(link);
  }

  crossing = (link) => this.wasm.crossing(link);

  // Runs a scenario and returns its rows; with `view` ({from_s, to_s, bins, link, shown, keeps_rows}) also its curves.
  run(scenario, seed, view) {
    const planned = this.read(scenario);
    const { from_s = 0, to_s = 1, bins = 1, channel = 0, keeps_rows = false } = view ?? {};
    const begin = () => this.#guarded(() => this.wasm.begin(from_s, to_s, bins, channel, keeps_rows));
    begin();
    const { flows } = planned;
    if (view && flows.some((flow) => flow.arrives)) {
      // Only a run shows which connections a flow with arrivals has.
      this.#go(seed, false);
      begin();
      const firsts = Array.from({ length: flows.length + 1 }, (_, flow) => this.wasm.first_connection(flow));
      this.spans = flows.map((_, flow) => firsts.slice(flow, flow + 2));
    } else this.spans = flows.map((_, place) => [place, place + 1]);
    const watched = view ? this.#watch(flows) : [];
    this.#go(seed, Boolean(view));
    const rows = this.#with(ROWS, flows.map(({ name, cc }) => ({ flow: name, cc, seed })));
    const result = { planned, rows, packets: this.wasm.packets() };
    return view ? { ...result, ...this.#pictures(watched, keeps_rows) } : result;
  }

  // The quantities that a control of a user's file names.
  #quantitiesOf = (cc) => this.own.find((control) => control.name === cc)?.quantities ?? [];

  // Watches each group of flows with a congestion control; the curves are those of its first connection.
  #watch(flows) {
    const watched = [];
    flows.forEach((flow, place) => {
      if (flow.cc === UDP) return;
      const [first, last] = this.spans[place];
      const before = watched.at(-1);
      if (before?.flow.group === flow.group) before.last = last;
      else if (last > first) watched.push({ flow, first, last });
    });
    for (const { flow, first, last } of watched) this.wasm.watch(first, last, flow.payload_bytes, this.#quantitiesOf(flow.cc).length);
    return watched;
  }

  #pictures(watched, keeps_rows) {
    return {
      curves: watched.map(({ flow: { name, cc, payload_bytes: mss }, first, last }, place) => {
        const [cwnd, ssthresh, estimate_bps, rtt_s, acked_bytes] = this.#columns(FIRST_WATCH + place, CURVES);
        const quantities = this.#quantitiesOf(cc).map((_, i) => this.#column(FIRST_WATCH + place, CURVES + i));
        return { name, cc, mss, connections: last - first, cwnd, ssthresh, estimate_bps, rtt_s, acked_bytes, quantities };
      }),
      queue: this.#columns(QUEUE, 2),
      decisions: this.#table(DECISIONS),
      drops: this.#table(DROPS),
      windows: keeps_rows ? this.#table(WINDOWS) : null,
    };
  }

  // Hands a value over to the engine; tables and lists value by value.
  #give(value) {
    const { wasm } = this;
    if (typeof value === "number") wasm.give_number(value);
    else if (typeof value === "boolean") wasm.give_flag(value);
    else if (Array.isArray(value)) {
      wasm.open_list();
      for (const element of value) this.#give(element);
      wasm.close();
    } else if (isTable(value)) {
      wasm.open_table();
      for (const [key, inner] of Object.entries(value)) {
        if (inner === undefined || inner === null) continue;
        this.#text(key);
        wasm.give_key();
        this.#give(inner);
      }
      wasm.close();
    } else {
      this.#text(String(value));
      wasm.give_text();
    }
  }

  #text(text) {
    const bytes = new TextEncoder().encode(text);
    const address = this.wasm.text(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, address, bytes.length).set(bytes);
  }

  #go(seed, traced) {
    const done = this.#guarded(() => this.wasm.run(seed, traced));
    if (done === 2) throw new Error(`the simulator rejects it: ${this.#error()}`);
  }

  // An exception of the engine ends it with a trap, after storing its message; then it starts again.
  #guarded(work) {
    try {
      return work();
    } catch (error) {
      const message = this.#error();
      this.start();
      throw error instanceof Problem ? error : new Error(message || `the simulator ended: ${error.message}`);
    }
  }

  // The same where an exception says what is wrong with a scenario.
  #refused(work) {
    try {
      return this.#guarded(work);
    } catch (error) {
      throw error instanceof Problem ? error : new Problem(error.message);
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

  // Adds the columns of a table to these parts, one for each of its rows.
  #with(table, parts) {
    const columns = Object.entries(this.#table(table));
    return parts.map((part, place) => ({ ...part, ...Object.fromEntries(columns.map(([name, values]) => [name, values[place]])) }));
  }

  #table(table) {
    const names = this.names[table];
    const columns = this.#columns(table, names.length);
    return Object.fromEntries(names.map((name, place) => [name, columns[place]]));
  }
}
