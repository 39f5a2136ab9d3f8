// SPDX-License-Identifier: BSD-3-Clause
// What a sender decided and why, in words, with the equation of the source and the numbers that it had.

import { D } from "./declared.js";

const REASONS = {
  recovery: "It learned of a loss from the ACKs behind it (duplicate ACKs, or times with RACK) and entered fast recovery.",
  timeout: "No ACK came for as long as the retransmission timer allows: all that is out may be lost, and it starts again from one segment.",
  ecn: "A router marked a packet instead of dropping it (ECN), and the receiver echoed the mark.",
  exit: "What was out when the loss was found is acknowledged: fast recovery is over, and the window goes on from ssthresh.",
  probe: "The last segments went unanswered: it sent a probe that brings an ACK, so that a lost tail is found without a timeout (TLP).",
  undo: "The reduction turned out to be needless (the segment was only late): the window is restored.",
};
const SLOWLY = " Until that is over, the window follows the ACKs: it falls to ssthresh little by little (PRR), or duplicate ACKs inflate it.";
const OTHERWISE = " Here it counted otherwise, for it was repairing a loss already, or had timed out before: RFC 5681, section 3.1.";
const SOURCES_OF_KIND = {
  exit: "RFC 5681, section 3.2; RFC 6582; RFC 9937",
  probe: "RFC 8985, section 7",
  undo: "RFC 4015; RFC 3522; RFC 3708; RFC 5682",
};

const WESTWOOD = {
  equation: "ssthresh = BWE · RTTmin / segment",
  meaning: "The window that fills the pipe at the rate that the ACKs showed, without a queue: a random loss costs little where the estimate is right.",
  value: ({ estimate_bps, rtt_min_s, curve: { mss } }) =>
    Number.isNaN(estimate_bps) ? null : {
      terms: `${rate(estimate_bps)} · ${ms(rtt_min_s)} / ${8 * mss} bit`,
      result: (estimate_bps * rtt_min_s) / (8 * mss),
    },
};
const HALF = {
  equation: "ssthresh = max(FlightSize / 2, 2)",
  meaning: "A loss is taken for a full queue, whatever its cause: half of what is in flight.",
  value: (decision) => ({ terms: `${flight(decision)} segments in flight / 2`, result: Math.max(flight(decision) / 2, 2) }),
};
// What limited transmit has let go beyond the window does not count (RFC 5681, section 3.2).
const flight = ({ in_flight, cwnd_before }) => Math.min(in_flight, cwnd_before);
const RULES = {
  reno: HALF,
  westwood: WESTWOOD,
  cubic: {
    equation: "ssthresh = max(0.7 · min(FlightSize, cwnd), 2); then W(t) = 0.4 (t − K)³ + Wmax",
    meaning: "Less is given up than by Reno, and the way back to Wmax follows a cubic of the time since the loss.",
    value: (decision) => ({ terms: `0.7 · ${flight(decision)}`, result: Math.max(0.7 * flight(decision), 2) }),
  },
  vegas: { ...HALF, meaning: "Vegas answers a loss as Reno does; between losses it keeps 2 to 4 segments queued." },
  veno: {
    equation: "ssthresh = 4/5 FlightSize if N < 3 segments are queued, else half",
    meaning: "N = (cwnd / RTT)(RTT − RTTmin): with hardly a queue the loss is taken for a random one.",
  },
  westwood_cubic: {
    equation: "ssthresh = max(0.7 cwnd, 0.93 · B · RTTmin / segment) with a queue; without one cwnd stays",
    meaning: "CUBIC's reduction, but not below the pipe that the largest delivery rate measured; where hardly anything waits, a loss costs nothing.",
  },
  bbr: {
    equation: "cwnd = gain · BtlBw · RTprop",
    meaning: "A loss is no congestion to BBR: while it recovers, the window is what is in flight, and then the model's again.",
  },
};

// { title, reason, equation, terms, result, meaning, source, facts: [[name, text]] }
export function explanation(decision) {
  const { kind, curve, time_s } = decision;
  const protocol = D.protocols.find((one) => one.name === curve.cc);
  const reduces = ["recovery", "timeout", "ecn"].includes(kind);
  const rule = reduces ? RULES[protocol.algorithm] : null;
  const value = rule?.value?.(decision);
  // A sender that repairs already, or times out again, counts otherwise: then only its own figure is shown.
  const agrees = value && Math.abs(Math.max(2, value.result) - decision.ssthresh) < 2;
  return {
    title: `${curve.label} at ${time_s.toFixed(3)} s: ${TITLES[kind] ?? kind}`,
    reason: `${REASONS[kind] ?? ""}${kind === "recovery" && decision.cwnd > decision.ssthresh + 1 ? SLOWLY : ""}`,
    equation: rule?.equation ?? "",
    terms: agrees ? `${value.terms} = ${value.result.toFixed(1)} segments, of which whole ones count` : "",
    meaning: `${rule?.meaning ?? ""}${value && !agrees ? OTHERWISE : ""}`,
    source: reduces ? protocol.source : (SOURCES_OF_KIND[kind] ?? ""),
    facts: [
      ["Segment", `${decision.segment}, the first not acknowledged`],
      ["Window", `${segments(decision.cwnd_before)} → ${segments(decision.cwnd)}`],
      ["ssthresh", `${segments(decision.ssthresh_before)} → ${segments(decision.ssthresh)}`],
      ["In flight", segments(decision.in_flight)],
      ["Round trip", `${ms(decision.rtt_s)} last, ${ms(decision.rtt_min_s)} least, timer ${ms(decision.rto_s)}`],
      ...(Number.isNaN(decision.estimate_bps) ? [] : [["Estimate", rate(decision.estimate_bps)]]),
    ],
  };
}

const TITLES = { recovery: "a loss, found by ACKs", timeout: "a timeout", ecn: "an ECN mark", exit: "recovery is over", probe: "a tail loss probe", undo: "a reduction undone" };
const segments = (value) => (Number.isNaN(value) ? "unlimited" : `${+value.toFixed(1)} segments`);
const ms = (seconds) => (Number.isNaN(seconds) ? "unknown" : `${(1e3 * seconds).toFixed(1)} ms`);
const rate = (bps) => `${(bps / 1e6).toFixed(3)} Mb/s`;
