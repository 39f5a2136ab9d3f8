// SPDX-License-Identifier: BSD-3-Clause
// The guided tour: six steps, each a state and what a lecturer would say about it.

import { byId, make } from "./dom.js";
import { D } from "./declared.js";
import { stateOf } from "./state.js";

function path(changes, cc, { duration = "20s", queue = "1bdp", rate = "2Mbps", delay = "45ms" } = {}) {
  const base = structuredClone(D.presets.path.scenario);
  Object.assign(base, { duration });
  Object.assign(base.link[0], { rate, delay, loss: { kind: "none" }, queue: { kind: "droptail", limit: queue }, ...changes });
  const state = stateOf(base);
  state.lines = cc.map((name) => ({ "tcp.cc": name }));
  return state;
}

const STEPS = [
  {
    title: "Slow start",
    text: "A sender knows nothing of the path. Each ACK lets two segments go, so the window doubles every round trip, until the pipe and then the queue are full. The queue's panel shows the price: what does not fit the pipe waits, and the round trip grows with it.",
    look: "Zoom into the first two seconds. When the queue is full, packets are lost, and that ends it.",
    state: () => path({}, ["newreno"], { duration: "10s" }),
    view: [0, 4],
  },
  {
    title: "A loss under Reno",
    text: "Here one packet, the 400th, is lost on the wire; no queue was full. Reno can't know. It takes every loss for congestion and halves: ssthresh = FlightSize / 2. Then one segment more a round trip: the sawtooth.",
    look: "Click on the mark ▼: it says what the sender decided, and with which numbers.",
    state: () => path({ loss: { kind: "script", packets: [400], on: "forward" } }, ["newreno"], { duration: "15s" }),
  },
  {
    title: "The same under Westwood+",
    text: "The same packet is lost. Westwood+ has measured all along at which rate ACKs come back, and sets ssthresh = BWE · RTTmin: the window that fills the pipe at this rate without a queue. If the pipe was full, hardly anything is given up.",
    look: "Compare the two windows after the loss, and the estimate over the link's rate: 1 is right.",
    state: () => path({ loss: { kind: "script", packets: [400], on: "forward" } }, ["newreno", "westwood+"], { duration: "15s" }),
  },
  {
    title: "What random loss does",
    text: "Half a percent of the packets is lost at random, as on a radio link. Reno halves again and again, and never gets to fill the pipe: its rate goes with 1 / (RTT √p). Westwood falls to its estimate, and keeps more. It tracks the rate that it achieves, not the capacity, so it does not keep all.",
    look: "Move the slider “Lost packets”: below 0.0001 the controls are alike, above 0.05 timeouts rule all of them.",
    state: () => path({ loss: { kind: "uniform", rate: 0.005, on: "forward" } }, ["newreno", "westwood", "westwood+"], { duration: "60s" }),
  },
  {
    title: "What a full queue does",
    text: "Nothing is lost at random now, but the queue holds five times the pipe. Controls that wait for a loss fill it, and everything behind them waits: the round trip grows to several times its least. After a loss Westwood+ sets the window to what fits the pipe alone, so it empties the queue that Reno's half leaves standing. BBR does not wait for a loss.",
    look: "Move the slider “Limit” of the queue down to 0.2bdp, and see who still fills the link.",
    state: () => path({}, ["newreno", "westwood+", "bbr"], { duration: "120s", queue: "5bdp" }),
  },
  {
    title: "What ACK compression does",
    text: "An upload and a download cross. The ACKs of the one wait behind the data of the other and come back in bunches, and whoever takes a sample an ACK sees rates that no link has: the estimate of Westwood jumps far above the link's rate. Westwood+ counts over a round trip, and filters: that is why it exists.",
    look: "The dashed line in the estimate's panel is the link's rate.",
    state: () => stateOf(D.presets["ack-compression"].scenario, "ack-compression"),
  },
];

export class Tour {
  #step = -1;

  // `open(state)` shows a state.
  constructor(open) {
    this.open = open;
    this.box = byId("lesson");
  }

  start = () => this.go(0);

  end = () => {
    this.#step = -1;
    this.box.hidden = true;
    byId("tour").focus();
  };

  async go(step) {
    this.#step = step;
    const { title, text, look, state, view } = STEPS[step];
    const isLast = step === STEPS.length - 1;
    const heading = make("h2", { tabindex: "-1" }, `${step + 1} of ${STEPS.length}: ${title}`);
    this.box.replaceChildren(make("div", { class: "card" }, heading, make("p", {}, text), make("p", {}, look),
      make("div", { class: "buttons" },
        make("button", { type: "button", disabled: step === 0, onclick: () => this.go(step - 1) }, "Back"),
        make("button", { type: "button", class: "primary", onclick: () => (isLast ? this.end() : this.go(step + 1)) }, isLast ? "To the laboratory" : "Next"),
        make("button", { type: "button", onclick: this.end }, "End the tour"))));
    this.box.hidden = false;
    const next = state();
    if (view) next.view = { from_s: view[0], to_s: view[1] };
    await this.open(next);
    heading.focus({ preventScroll: true });
    this.box.scrollIntoView({ block: "start" });
  }
}
