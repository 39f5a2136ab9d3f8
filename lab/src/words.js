// SPDX-License-Identifier: BSD-3-Clause
// Explains a sender's decision in words, with the equation from the source and its numbers.

import { D } from "./declared.js";

const REASONS = {
  recovery: "The sender learned of a loss from later ACKs (duplicate ACKs, or times with RACK) and entered fast recovery.",
  timeout: "No ACK arrived before the retransmission timer expired: everything in flight may be lost, and the sender restarts from one segment.",
  ecn: "A router marked a packet instead of dropping it (ECN), and the receiver echoed the mark.",
  exit: "Everything that was in flight when the loss was found is acknowledged: fast recovery ends, and the window continues from ssthresh.",
  probe: "The last segments were not acknowledged: the sender sent a probe to get an ACK, so that a lost tail is found without a timeout (TLP).",
  undo: "The reduction was unnecessary (the segment was only late): the window is restored.",
};
const SLOWLY = " Until recovery ends, the window follows the ACKs: it falls to ssthresh gradually (PRR), or duplicate ACKs inflate it.";
const OTHERWISE = " This time the sender was already repairing a loss, or had timed out before, so another rule applied: RFC 5681, section 3.1.";
const SOURCES_OF_KIND = {
  exit: "RFC 5681, section 3.2; RFC 6582; RFC 9937",
  probe: "RFC 8985, section 7",
  undo: "RFC 4015; RFC 3522; RFC 3708; RFC 5682",
};

const WESTWOOD = {
  equation: "ssthresh = BWE · RTTmin / segment",
  meaning: "The window that fills the path at the rate of the ACKs, without a queue. With a correct estimate a random loss costs little.",
  value: ({ estimate_bps, rtt_min_s, curve: { mss } }) =>
    Number.isNaN(estimate_bps) ? null : {
      terms: `${rate(estimate_bps)} · ${ms(rtt_min_s)} / ${8 * mss} bit`,
      result: (estimate_bps * rtt_min_s) / (8 * mss),
    },
};
const HALF = {
  equation: "ssthresh = max(FlightSize / 2, 2)",
  meaning: "Takes every loss for a full queue, whatever its cause: half the segments in flight.",
  value: (decision) => ({ terms: `${flight(decision)} segments in flight / 2`, result: Math.max(flight(decision) / 2, 2) }),
};
// Segments sent by limited transmit beyond the window do not count (RFC 5681, section 3.2).
const flight = ({ in_flight, cwnd_before }) => Math.min(in_flight, cwnd_before);
const RULES = {
  reno: HALF,
  westwood: WESTWOOD,
  cubic: {
    equation: "ssthresh = max(0.7 · min(FlightSize, cwnd), 2); then W(t) = 0.4 (t − K)³ + Wmax",
    meaning: "Reduces the window less than Reno; it then returns to Wmax along a cubic of the time since the loss.",
    value: (decision) => ({ terms: `0.7 · ${flight(decision)}`, result: Math.max(0.7 * flight(decision), 2) }),
  },
  vegas: { ...HALF, meaning: "Vegas reacts to a loss as Reno does; between losses it keeps 2 to 4 segments queued." },
  veno: {
    equation: "ssthresh = 4/5 FlightSize if N < 3 segments are queued, else half",
    meaning: "N = (cwnd / RTT)(RTT − RTTmin): with almost no queue the loss is taken for a random one.",
  },
  westwood_cubic: {
    equation: "ssthresh = max(0.7 cwnd, 0.93 · B · RTTmin / segment) with a queue; without one cwnd stays",
    meaning: "CUBIC's reduction, but not below the pipe at the largest measured delivery rate. If almost nothing waits in the queue, a loss costs nothing.",
  },
  bbr: {
    equation: "cwnd = gain · BtlBw · RTprop",
    meaning: "BBRv1 does not take a loss for congestion: during recovery the window is what is in flight, then again the model's.",
  },
};

// { title, reason, equation, terms, result, meaning, source, facts: [[name, text]] }
export function explanation(decision) {
  const { kind, curve, time_s } = decision;
  const protocol = D.protocols.find((protocol) => protocol.name === curve.cc);
  const reduces = ["recovery", "timeout", "ecn"].includes(kind);
  const rule = reduces ? RULES[protocol.algorithm] : null;
  const value = rule?.value?.(decision);
  // During a recovery or after a repeated timeout another rule applies: then only the sender's own number is shown.
  const agrees = value && Math.abs(Math.max(2, value.result) - decision.ssthresh) < 2;
  return {
    title: `${curve.label} at ${time_s.toFixed(3)} s: ${TITLES[kind] ?? kind}`,
    reason: `${REASONS[kind] ?? ""}${kind === "recovery" && decision.cwnd > decision.ssthresh + 1 ? SLOWLY : ""}`,
    equation: rule?.equation ?? "",
    terms: agrees ? `${value.terms} = ${value.result.toFixed(1)} segments, rounded to whole ones` : "",
    meaning: `${rule?.meaning ?? ""}${value && !agrees ? OTHERWISE : ""}`,
    source: reduces ? protocol.source : (SOURCES_OF_KIND[kind] ?? ""),
    facts: [
      ["Segment", `${decision.segment}, the first unacknowledged`],
      ["Window", `${segments(decision.cwnd_before)} → ${segments(decision.cwnd)}`],
      ["ssthresh", `${segments(decision.ssthresh_before)} → ${segments(decision.ssthresh)}`],
      ["In flight", segments(decision.in_flight)],
      ["Round trip", `${ms(decision.rtt_s)} last, ${ms(decision.rtt_min_s)} minimum, timer ${ms(decision.rto_s)}`],
      ...(Number.isNaN(decision.estimate_bps) ? [] : [["Estimate", rate(decision.estimate_bps)]]),
    ],
  };
}

const TITLES = { recovery: "a loss, found by ACKs", timeout: "a timeout", ecn: "an ECN mark", exit: "the end of recovery", probe: "a tail loss probe", undo: "a reduction undone" };
const segments = (value) => (Number.isNaN(value) ? "unlimited" : `${+value.toFixed(1)} segments`);
const ms = (seconds) => (Number.isNaN(seconds) ? "unknown" : `${(1e3 * seconds).toFixed(1)} ms`);
const rate = (bps) => `${(bps / 1e6).toFixed(3)} Mb/s`;
