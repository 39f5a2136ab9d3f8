// SPDX-License-Identifier: BSD-3-Clause
// Shows the preset's text, or its paper: its claims with the verdicts of `reproduce`, each claim's result at the present setting,
// and the points of the paper's figure.

import { D } from "./declared.js";
import { byId, make } from "./dom.js";
import { ratioText, tightest, wantedText } from "./judge.js";
import { assign, pointsOf } from "./state.js";
import { tomlValue } from "./toml.js";

const note = (seeds) => `The verdict in front of a claim is that of westwood reproduce: ${seeds === 1 ? "1 run" : `${seeds} runs`} at each point of the figure.
Below it is the claim's result at this setting alone, on a few seeds, with the controls that it compares. Move a slider to see how far the claim holds.`;

// `change` applies a change of the state, as the controls do.
export function showPaper({ preset: name }, change) {
  const preset = D.presets[name];
  const box = byId("paper");
  byId("verdicts").textContent = "";
  const points = pointsOf(name).map((point) => choosePoint(point, change));
  if (!preset?.claims.length && !points.length) {
    box.replaceChildren();
    return;
  }
  const texts = preset.claims.length ? preset.claims.map(claimOf) : [make("p", {}, preset.about)];
  const source = preset.claims.length ? make("p", { class: "source" }, note(preset.scenario.seeds)) : null;
  box.replaceChildren(make("details", { class: "card", open: true }, make("summary", {}, make("b", {}, preset.title || name)), ...texts, ...points, source));
}

const claimOf = (claim) =>
  make("details", { class: "claim" },
    make("summary", {}, badge(claim.verdict), claim.says, make("span", { class: "outcome" }, claim.bounds.conditions ? "At this setting: being measured." : claim.bounds)),
    make("div", { class: "findings" }),
    make("p", { class: "source" }, `${claim.paper}, ${claim.where}. ${claim.quote ? `“${claim.quote}” ` : ""}As bounds: ${claim.measure}${claim.explanation ? ` Result: ${claim.explanation}.` : ""}`));

const badge = (verdict) => make("b", { class: `verdict ${verdict.replace(" ", "-")}` }, verdict || "not decided");

// Goes to a point of the paper's figure.
function choosePoint([key, values], change) {
  const textOf = (value) => (typeof value === "object" ? (value.kind ?? tomlValue(value)) : String(value));
  const choose = (value) => () => change((next) => assign(next.scenario, key, value));
  return make("div", { class: "points", role: "group", "aria-label": key }, make("span", { class: "source" }, `${key}: `),
    ...values.map((value) => make("button", { type: "button", onclick: choose(value) }, textOf(value))));
}

// Shows the results of the claims at this setting: judge.js.
export function showFindings(findings) {
  const claims = byId("paper").querySelectorAll(".claim");
  findings.forEach((finding, place) => {
    const { why, measured = [] } = finding;
    claims[place].querySelector(".outcome").replaceChildren(...(why ? [why] : wordsOf(finding)));
    claims[place].querySelector(".findings").replaceChildren(...(measured.length ? [tableOf(measured)] : []));
  });
  const counts = ["HOLDS", "DIFFERS"].map((verdict) => [verdict, findings.filter((finding) => finding.verdict === verdict).length]);
  const list = counts.filter(([, count]) => count).map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  const soFar = findings.some(({ isLast }) => isLast === false) ? " so far" : "";
  const text = list && `claims at this setting${soFar}: ${list}`;
  if (byId("verdicts").textContent !== text) byId("verdicts").textContent = text; // screen readers announce a change
  document.body.dataset.judged = String(Math.max(0, ...findings.map((finding) => finding.seeds ?? 0)));
}

function wordsOf({ verdict, measured, aside, first, seeds, isLast }) {
  const closest = tightest(measured);
  const what = verdict ? `${closest.condition.name}: ${ratioText(closest)}, expected ${wantedText(closest.condition)}. ` : "something could not be measured. ";
  return [`At this setting, ${seeds > 1 ? `seeds ${first} to ${first + seeds - 1}` : `seed ${first}`}${isLast ? "" : " so far"}: `, badge(verdict), what, aside];
}

const HEADS = ["at this setting", "measured", "expected"];
const tableOf = (measured) =>
  make("table", {},
    make("thead", {}, make("tr", {}, ...HEADS.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...measured.map((claim) =>
      make("tr", { class: claim.holds ? "" : "fails" }, make("th", { scope: "row" }, claim.condition.name), make("td", {}, ratioText(claim)), make("td", {}, wantedText(claim.condition))))));
