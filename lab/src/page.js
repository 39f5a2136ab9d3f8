// SPDX-License-Identifier: BSD-3-Clause
// The page: it has a state, and shows everything from that state.

import { Controls } from "./controls.js";
import { decisionsOf, drawnText, lossesOf, panelsOf } from "./curves.js";
import { copyOf } from "./data.js";
import { D } from "./declared.js";
import { byId, make } from "./dom.js";
import { licences } from "./packed.js";
import { Panels } from "./panels.js";
import { openExports } from "./exports.js";
import { showHeadline } from "./headline.js";
import { Judge } from "./judge.js";
import { linkIn, stateOfLink, toWord } from "./links.js";
import { showFindings, showPaper } from "./paper.js";
import { Problem } from "./problem.js";
import { crossing, parseRate, read, ready } from "./reader.js";
import { Runner } from "./runner.js";
import { checked, commandOf, limitByTime, linkOf, ofPreset, runsOf, sizeOfFile, stateOf, tomlOf } from "./state.js";
import { showRows } from "./table.js";
import { readToml, readTomlFile } from "./toml.js";
import { Tour } from "./tour.js";
import { explanation } from "./words.js";

const MOST_BINS = 900;
const SLOW_MS = 200; // then a progress bar appears
const LINK_AFTER_MS = 300;

let state, latest, linkTimer;
const MOST_WORKERS = 4; // one for each control shown
const runner = new Runner(Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 1));
const judge = new Judge();
const controls = new Controls(change, complain);
const panels = new Panels({ zoom, explain });
const tour = new Tour((next) => open(next), () => latest);

const first = () => ofPreset("sawtooth");

export function complain(error) {
  const box = byId("message");
  box.hidden = !error;
  box.textContent = error ? String(error instanceof Problem ? error : (error.message ?? error)) : "";
}

// Applies a change to the state and returns ""; after an error returns its message and leaves the state unchanged.
function change(mutate) {
  let next = copyOf(state);
  try {
    const { duration } = next.scenario;
    mutate(next);
    if (next.scenario.duration !== duration) delete next.view;
    if (next.queue_ms !== undefined) limitByTime(next);
    next = checked(next);
  } catch (error) {
    return String(error instanceof Problem ? error : error.message);
  }
  open(next);
  return "";
}

// Shows a valid state; the promise resolves when its pictures are drawn.
function open(next) {
  const other = !state || next.preset !== state.preset;
  state = next;
  if (!judge.isOf(state)) {
    judge.leave();
    delete document.body.dataset.judged;
  }
  complain(null);
  controls.show(state);
  byId("preset").value = state.preset ?? "";
  if (other) showPaper(state, change);
  byId("why").replaceChildren();
  clearTimeout(linkTimer);
  linkTimer = setTimeout(keep, LINK_AFTER_MS);
  return simulate();
}

async function keep() {
  history.replaceState(null, "", `#s=${await toWord(state)}`);
}

function viewOf(given) {
  const { duration_s: whole_s, links } = read(runsOf(given)[0].scenario);
  const { from_s, to_s } = given.view?.from_s < whole_s ? given.view : { from_s: 0, to_s: whole_s };
  const { name, rate } = linkOf(given);
  const place = links.findIndex((link) => link.name === name);
  const channel = crossing(place);
  const bins = Math.min(MOST_BINS, panels.width);
  return {
    whole_s,
    link: {
      name: links.length > 1 ? name : "", // one needs no name
      side: channel % 2 ? ", backward" : "",
      rate_bps: rate === undefined ? undefined : parseRate(rate), limit: links[place].queue_packets,
    },
    view: { from_s, to_s: Math.min(to_s, whole_s), bins, channel },
  };
}

async function simulate() {
  const began_ms = performance.now();
  const now = state;
  const { view, link, whole_s } = viewOf(now);
  const slow = setTimeout(() => showBusy(true), SLOW_MS);
  try {
    const results = await runner.run({ runs: runsOf(now), seed: now.seed, view }, (share) => { byId("progress").value = share; });
    if (!results || now !== state) return;
    latest = { results, view, whole_s, state: now, decisions: decisionsOf(results), panels: panelsOf(results, view, link) };
    panels.show(latest.panels, latest.decisions, lossesOf(results), view);
    showHeadline(results);
    showRows(results);
    showCommand();
    showBusy(false);
    const packets = results.reduce((sum, result) => sum + result.packets, 0);
    const part = now.view ? `${view.from_s.toFixed(2)} to ${view.to_s.toFixed(2)} s of ` : "";
    byId("said").textContent = `${part}${whole_s} s, ${packets.toLocaleString("en")} packets${drawnText(results)}`;
    const took_ms = performance.now() - began_ms;
    byId("said").dataset.took = took_ms.toFixed(1);
    document.body.dataset.shown = String(Number(document.body.dataset.shown ?? 0) + 1);
    judge.follow(now, showFindings).catch(complain);
  } catch (error) {
    complain(error);
  } finally {
    clearTimeout(slow);
    if (now === state) showBusy(false);
  }
}

function showBusy(isBusy) {
  byId("progress").hidden = byId("stop").hidden = !isBusy;
  byId("progress").value = 0;
  document.body.toggleAttribute("data-busy", isBusy);
}

function zoom(from_s, to_s) {
  if (!latest) return;
  const next = copyOf(state);
  if (from_s === null || (from_s <= 0 && to_s >= latest.whole_s)) delete next.view;
  else next.view = { from_s: Math.max(0, from_s), to_s: Math.min(latest.whole_s, to_s) };
  if (next.view && next.view.to_s - next.view.from_s < 1e-4) return;
  open(next);
}

function zoomBy(factor, towards = 0.5) {
  const { from_s, to_s } = latest.view;
  const middle = from_s + towards * (to_s - from_s);
  zoom(middle - factor * (middle - from_s), middle + factor * (to_s - middle));
}

function slide(share) {
  const { from_s, to_s } = latest.view;
  const by = Math.max(-from_s, Math.min(latest.whole_s - to_s, share * (to_s - from_s)));
  if (by) zoom(from_s + by, to_s + by);
}

let chosen = null;

function explain(decision) {
  chosen = decision;
  const text = explanation(decision);
  panels.point(decision.time_s);
  byId("why").replaceChildren(make("div", { class: "card" },
    make("h2", {}, text.title), make("p", {}, text.reason),
    text.equation ? make("p", { class: "equation" }, text.equation, ...(text.terms ? [make("br"), text.terms] : [])) : null,
    text.meaning ? make("p", {}, text.meaning) : null,
    make("dl", {}, ...text.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
    text.source ? make("p", { class: "source" }, `Source: ${text.source}`) : null,
    make("div", { class: "buttons" },
      make("button", { type: "button", onclick: () => next(-1) }, "Previous decision"),
      make("button", { type: "button", onclick: () => next(1) }, "Next decision"),
      make("button", { type: "button", onclick: () => zoom(decision.time_s - 2, decision.time_s + 3) }, "Zoom to it"),
      make("button", { type: "button", onclick: () => { chosen = null; byId("why").replaceChildren(); } }, "Close"))));
}

function next(step) {
  const { decisions } = latest;
  if (!decisions.length) return;
  const place = chosen ? decisions.findIndex((decision) => decision.time_s === chosen.time_s && decision.curve.label === chosen.curve.label && decision.kind === chosen.kind) : -1;
  explain(decisions[place < 0 ? (step > 0 ? 0 : decisions.length - 1) : Math.min(decisions.length - 1, Math.max(0, place + step))]);
}

function showCommand() {
  const command = commandOf(state);
  const toml = tomlOf(state);
  const copy = (text) => make("button", { type: "button", onclick: () => copied(text) }, "Copy");
  const size = sizeOfFile(state);
  const more = size > state.lines.length ? make("p", { class: "source" }, `The sweep has every combination of these controls: ${size} runs, of which ${state.lines.length} are shown.`) : null;
  byId("words").replaceChildren(...[make("pre", {}, command), copy(command), more, make("pre", { id: "toml" }, toml), copy(toml)].filter(Boolean));
}

export async function copied(text, message = "Copied.") {
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    isCopied = document.execCommand("copy");
    area.remove();
  }
  byId("said").textContent = isCopied ? message : "The browser does not allow copying from this page.";
}

async function openFile(file) {
  try {
    const made = stateOf(await readTomlFile(file));
    await open(made);
  } catch (error) {
    complain(new Error(`${String(file.name).slice(0, 60)}: ${error}`));
  }
}

async function openLink(hash) {
  try {
    await open((await stateOfLink(hash)) ?? first());
  } catch (error) {
    if (!state) await open(first());
    complain(error);
  }
}

const isOnlyHere = () => location.protocol === "file:" || ["127.0.0.1", "localhost"].includes(location.hostname);

// Others can't open the address of this machine's copy; what follows it works after that of any copy.
async function shareLink() {
  await keep();
  if (isOnlyHere()) copied(location.hash, "Copied. It goes at the end of the address of any copy of this page, or paste it into the page.");
  else copied(location.href);
}

// A link that is pasted anywhere but into a field is opened.
function pasteLink({ target, clipboardData }) {
  const link = target.closest?.("input, textarea") ? "" : linkIn(clipboardData.getData("text"));
  if (link) location.hash = link;
}

function choosePreset({ target }) {
  try {
    open(ofPreset(target.value));
  } catch (error) {
    complain(error);
  }
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !latest) return;
  const action = {
    ArrowLeft: () => slide(-0.25), ArrowRight: () => slide(0.25), "+": () => zoomBy(0.5), "=": () => zoomBy(0.5),
    "-": () => zoomBy(2), 0: () => zoom(null), n: () => next(1), p: () => next(-1), Escape: () => byId("why").replaceChildren(),
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listen() {
  const names = Object.keys(D.presets);
  byId("preset").append(make("option", { value: "" , disabled: true }, "your own"), ...names.map((name) => make("option", { value: name }, D.presets[name].title ? `${name}: ${D.presets[name].title}` : name)));
  byId("preset").addEventListener("change", choosePreset);
  byId("tour").addEventListener("click", tour.start);
  byId("share").hidden = location.protocol === "blob:"; // the frame of a notebook, which has no link
  byId("share").addEventListener("click", shareLink);
  document.addEventListener("paste", pasteLink);
  byId("file").addEventListener("change", ({ target }) => target.files[0] && openFile(target.files[0]));
  byId("open").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault(); // a space scrolls the page
    byId("file").click();
  });
  byId("stop").addEventListener("click", () => {
    runner.stop();
    judge.stop();
    showBusy(false);
    byId("said").textContent = "Stopped: the pictures show the previous run.";
  });
  byId("in").addEventListener("click", () => latest && zoomBy(0.5));
  byId("out").addEventListener("click", () => latest && zoomBy(2));
  byId("all").addEventListener("click", () => zoom(null));
  byId("panels").addEventListener("keydown", keys);
  byId("licences").addEventListener("click", showLicences);
  byId("version").textContent = `Westwood ${D.version}`;
  openExports(() => latest && { ...latest, runner });
  listenToDrops();
  // By now the address may be that of the state before (keep).
  addEventListener("hashchange", ({ newURL }) => openLink(new URL(newURL).hash));
}

function listenToDrops() {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
  });
}

function showLicences() {
  byId("inside").replaceChildren(
    make("h2", {}, "Licences"), make("p", {}, "Westwood: BSD-3-Clause. Bundled with it:"),
    ...licences.flatMap(({ name, version, license, text }) => [make("h3", {}, `${name} ${version}: ${license}`), make("pre", {}, text)]));
  byId("dialog").showModal();
}

// For scripts and tests: the state, the rows that are shown, and functions to open others.
window.lab = {
  get state() { return structuredClone(state); },
  get rows() { return latest.results.flatMap((result) => result.rows); },
  get decisions() { return latest.decisions.map(({ curve, ...decision }) => ({ ...decision, flow: curve.label })); },
  get toml() { return tomlOf(state); },
  get command() { return commandOf(state); },
  open: (next) => open(checked(next)),
  openToml: (text) => open(stateOf(readToml(text))),
  openPreset: (name) => open(ofPreset(name)),
};

ready.then(() => {
  listen();
  openLink(location.hash);
});
