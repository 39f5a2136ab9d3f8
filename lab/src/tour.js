// SPDX-License-Identifier: BSD-3-Clause
// The guided tour: six steps, each with a state and a lecturer's explanation. `text` makes the sentences from the rows,
// decisions and curves of the run on screen, so their numbers match it.

import { copyOf } from "./data.js";
import { byId, make } from "./dom.js";
import { D, labelOf } from "./declared.js";
import { stateOf } from "./state.js";

function path(changes, cc, { duration = "20s", queue = "1bdp", rate = "2Mbps", delay = "45ms", ssthresh } = {}) {
  const base = copyOf(D.presets.path.scenario);
  Object.assign(base, { duration });
  Object.assign(base.link[0], { rate, delay, loss: { kind: "none" }, queue: { kind: "droptail", limit: queue }, ...changes });
  if (ssthresh) base.flow[0].initial_ssthresh = ssthresh;
  const state = stateOf(base);
  state.lines = cc.map((name) => ({ "tcp.cc": name }));
  return state;
}

// One packet is lost while the queue is empty.
const LOST = 1500;
const oneLoss = (cc) => path({ loss: { kind: "script", packets: [LOST], on: "forward" } }, cc, { rate: "10Mbps", delay: "50ms", duration: "8s", ssthresh: "60p" });

const whole = (value) => value.toFixed(0);
const mbps = (row) => (row.goodput_bps / 1e6).toFixed(2);
const ms = (value_s) => (1e3 * value_s).toFixed(0);
const rowOf = ({ rows }, cc) => rows.find((row) => row.cc === cc);
const firstLoss = ({ decisions }, cc) => decisions.find((decision) => decision.kind === "recovery" && decision.curve.cc === cc);
// The highest value of a curve.
const highest = ({ panels }, key, label) =>
  panels.find((panel) => panel.key === key).lines.find((line) => line.label === label).values.reduce((a, b) => (b > a ? b : a), 0);

const STEPS = [
  {
    title: "Slow start",
    text: (run) => `A sender knows nothing of the path. Each ACK releases two segments, so the window doubles every round trip. First the path fills, then the queue. The queue's panel shows the price: a packet that waits makes the round trip longer. Here the queue overflows, and ${rowOf(run, "newreno").queue_drops} packets are dropped.`,
    look: "The pictures show the first four seconds. The marks ▼ and ✕ show where the sender notices.",
    state: () => path({}, ["newreno"], { duration: "10s" }),
    view: [0, 4],
  },
  {
    title: "A loss under Reno",
    text: (run) => {
      const loss = firstLoss(run, "newreno");
      return `One packet, the ${LOST}th, is lost on the link at ${loss.time_s.toFixed(1)} s. The queue is empty and drops nothing, but Reno cannot know that. It takes every loss for congestion and sets ssthresh to half the segments in flight: ${whole(loss.ssthresh)}, where the window was ${whole(loss.cwnd_before)}. From there the window grows by one segment per round trip: the sawtooth.`;
    },
    look: "Click on the mark ▼. It says what the sender decided, and with which numbers.",
    state: () => oneLoss(["newreno"]),
  },
  {
    title: "The same under Westwood+",
    text: (run) => {
      const [reno, ours] = [firstLoss(run, "newreno"), firstLoss(run, "westwood+")];
      return `The same packet is lost. Westwood+ has measured the rate at which ACKs return, and sets ssthresh = BWE · RTTmin: enough to fill the path at that rate without a queue. Its window continues from ${whole(ours.ssthresh)} segments, Reno's from ${whole(reno.ssthresh)}. In these 8 s it delivers ${mbps(rowOf(run, "westwood+"))} Mb/s, NewReno ${mbps(rowOf(run, "newreno"))}.`;
    },
    look: "Compare the two windows after the loss. The estimate is shown below them: 1 is the rate of the link.",
    state: () => oneLoss(["newreno", "westwood+"]),
  },
  {
    title: "What random loss does",
    text: (run) => `Half a percent of the packets is lost at random, as on a radio link. Reno halves its window again and again and never fills the path: it delivers ${mbps(rowOf(run, "newreno"))} of 2 Mb/s. Westwood falls back to its estimate and delivers ${mbps(rowOf(run, "westwood"))}, Westwood+ ${mbps(rowOf(run, "westwood+"))}. The estimate is the rate that was achieved, not the capacity, so Westwood does not keep all of it.`,
    look: "Move the slider “Lost packets”: at 0.0001 the three controls are alike, and at 0.1 all of them wait for timeouts.",
    state: () => path({ loss: { kind: "uniform", rate: 0.005, on: "forward" } }, ["newreno", "westwood", "westwood+"], { duration: "60s" }),
  },
  {
    title: "What a full queue does",
    text: (run) => `Nothing is lost at random now, but the queue holds five times what the path holds. A control that waits for a loss fills the queue, and everything behind it waits. The round trip takes ${ms(rowOf(run, "newreno").min_rtt_s)} ms without a queue. On average it takes ${ms(rowOf(run, "newreno").mean_srtt_s)} ms under NewReno, ${ms(rowOf(run, "westwood+").mean_srtt_s)} ms under Westwood+, which empties the queue after a loss, and ${ms(rowOf(run, "bbr").mean_srtt_s)} ms under BBRv1, which does not wait for a loss.`,
    look: "Move the slider “Limit” of the queue down to 0.2bdp, and see who still fills the link.",
    state: () => path({}, ["newreno", "westwood+", "bbr"], { duration: "120s", queue: "5bdp" }),
  },
  {
    title: "What ACK compression does",
    text: (run) => {
      const [westwood, plus] = ["westwood-ns3", "westwood+-ns3"].map((cc) => highest(run, "estimate", `${labelOf(cc)}: upload`));
      return `An upload and a download cross. The ACKs of one wait behind the data of the other and return in bursts. Westwood takes a sample at each ACK and so measures rates that no link has: the upload's estimate reaches ${whole(westwood)} times the rate of the link. Westwood+ takes one sample per round trip, and the same estimate reaches ${plus.toFixed(1)} times that rate.`;
    },
    look: "The dashed line in the estimate's panel is the rate of the link.",
    state: () => stateOf(D.presets["ack-compression"].scenario, "ack-compression"),
  },
];

export class Tour {
  #step = -1;

  // `open(state)` shows a state; `shown()` returns what is shown: results, decisions, panels.
  constructor(open, shown) {
    Object.assign(this, { open, shown });
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
    const says = make("p", {});
    this.box.replaceChildren(make("div", { class: "card" }, heading, says, make("p", {}, look),
      make("div", { class: "buttons" },
        make("button", { type: "button", disabled: step === 0, onclick: () => this.go(step - 1) }, "Back"),
        make("button", { type: "button", class: "primary", onclick: () => (isLast ? this.end() : this.go(step + 1)) }, isLast ? "To the laboratory" : "Next"),
        make("button", { type: "button", onclick: this.end }, "End the tour"))));
    this.box.hidden = false;
    const next = state();
    if (view) next.view = { from_s: view[0], to_s: view[1] };
    await this.open(next);
    if (step !== this.#step) return; // the user has moved on
    const { results, decisions, panels } = this.shown();
    says.textContent = text({ rows: results.flatMap((result) => result.rows), decisions, panels });
    heading.focus({ preventScroll: true });
    this.box.scrollIntoView({ block: "start" });
  }
}
