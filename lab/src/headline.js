// SPDX-License-Identifier: BSD-3-Clause
// The sentence above the pictures: what the last control gained over the first, and why, from the runs' rows.

import { D, labelOf } from "./declared.js";
import { byId, make } from "./dom.js";

const EVEN = 0.02; // goodputs within this share count as equal
const STARVED = 0.1; // of the link: below it timeouts decide
const EMPTY = 1 / 16; // of the window: a mean queue below this counts as almost empty

// How an algorithm reacts to a loss. Algorithms that keep their rate gain when the link causes the losses.
const REACTIONS = {
  reno: { keeps: false, does: "halves its window" },
  cubic: { keeps: false, does: "gives up three tenths of its window" },
  vegas: { keeps: false, does: "halves its window" },
  veno: { keeps: true, does: "gives up a fifth of its window" },
  westwood: { keeps: true, does: "continues at the rate that it measured" },
  westwood_cubic: { keeps: true, does: "continues at the rate that it measured" },
  bbr: { keeps: true, does: "continues at the rate that it measured" },
};

const reactionOf = (cc) => REACTIONS[D.protocols.find((protocol) => protocol.name === cc)?.algorithm];
const mbps = (row) => (row.goodput_bps / 1e6).toFixed(2);
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "es"}`;

// { gain, text } of the runs; undefined unless there are at least two runs with one flow each.
export function headlineOf(results) {
  if (results.length < 2 || results.some((result) => result.rows.length !== 1)) return undefined;
  const [first, last] = [results[0].rows[0], results.at(-1).rows[0]];
  if (first.cc === last.cc || !(first.goodput_bps > 0)) return undefined;
  const gain = last.goodput_bps / first.goodput_bps - 1;
  const percent = `${gain < 0 ? "−" : "+"}${Math.abs(100 * gain).toFixed(0)} %`;
  const [before, after] = [labelOf(first.cc), labelOf(last.cc)];
  const what = `${after} delivers ${mbps(last)} Mb/s on this path, ${before} ${mbps(first)}`;
  return { percent, text: `${what}${why(first, last, gain)}` };
}

// Gives the reason if the rows show it; otherwise counts the losses.
function why(first, last, gain) {
  const [wire, queue] = [first.lost + last.lost, first.queue_drops + last.queue_drops];
  const isEmpty = [first, last].every((row) => row.mean_queue < EMPTY * row.mean_cwnd);
  const isStarved = [first, last].every((row) => row.utilisation < STARVED);
  const [before, after] = [reactionOf(first.cc), reactionOf(last.cc)];
  if (!isStarved && wire && !queue && isEmpty && gain > EVEN && before && after && !before.keeps && after.keeps)
    return `, because the queue stays almost empty: the link loses the packets, not congestion. At each loss ${labelOf(first.cc)} ${before.does}; ${labelOf(last.cc)} ${after.does}.`;
  if (!wire && !queue) return ". No packet is lost.";
  return `. Of ${counted(wire + queue, "loss")}, ${wire} happened on the link and ${queue} in full queues.`;
}

export function showHeadline(results) {
  const headline = headlineOf(results);
  const box = byId("headline");
  box.hidden = !headline;
  box.replaceChildren(...(headline ? [make("b", {}, headline.percent), ` ${headline.text}`] : []));
}
