// SPDX-License-Identifier: BSD-3-Clause
// The controls: each reads a value from the state and writes one into it, as text with its unit. A slider has the
// same value on a scale; the field next to it takes values that the slider cannot express exactly.

import { isTable } from "./data.js";
import { byId, isDark, make, shownColour } from "./dom.js";
import { D, OWN, colourOf, labelOf } from "./declared.js";
import { measure, parseRate } from "./reader.js";
import { isDatagrams } from "./scenario.js";
import { fieldOf, fraction, fromScale, merged, neededOf, number, rateText, scaleOf, seconds, three, timeText, toScale } from "./settings.js";
import { MOST_LINES, assign, controlKey, controlOf, exchange, flowOfLines, flowsWithControl, labelOfLine, leaveOut, linkOf, ownOfLine, setParameter } from "./state.js";

const STEPS = 1000;
const UDP_FLOW = "udp";

const lossOf = (state) => linkOf(state).loss ?? { kind: "none" };
const lossKind = (state) => lossOf(state).kind ?? (lossOf(state).packets ? "script" : "uniform");
const queueOf = (state) => linkOf(state).queue ?? D.profiles[state.scenario.profile ?? "rfc"].sections.link.queue;

function unitOfLimit(state) {
  if (state.queue_ms !== undefined) return "ms";
  return LIMIT_UNITS[measure(queueOf(state).limit).kind] ?? "unlimited";
}

function setQueue(state, change) {
  linkOf(state).queue = merged(queueOf(state), change);
}

const LIMIT_UNITS = { packets: "p", bdp: "bdp", time: "ms", size: "bytes" };
const LIMITS = { p: "100p", bdp: "1bdp", unlimited: "unlimited", bytes: "64KiB" };
const LIMIT_SCALES = { p: [1, 2000], bdp: [0.05, 20], ms: [1, 2000], bytes: [1500, 4e6] };

// The fields of all kinds of a list; `tableOf` returns the table of a kind, if the state has it.
const fieldsOf = (kinds, idOf, tableOf, change) => kinds.flatMap((kind) =>
  kind.settings.map((setting) => fieldOf(setting, idOf(kind, setting.key), (state) => tableOf(state, kind.name), (state, keys) => change(state, keys, kind.name))));

// Random losses have a slider among the path's; it begins at the share of a list's.
const RANDOM = D.losses.find((loss) => loss.name === "uniform");
function lostShare(state) {
  const { rate, packets = [] } = lossOf(state);
  return lossKind(state) === "uniform" ? rate : packets.length ? three(packets.length / Math.max(...packets)) : 0;
}

const named = (kinds, name) => kinds.find((kind) => kind.name === name);
const ofKind = (table, kind) => (table.kind === kind ? table : undefined);

// An impairment: whether the bottleneck has it, its settings, and the direction that it is on.
function impairmentFields(kind) {
  const { name, title } = kind;
  const tableOf = (state) => linkOf(state)[name];
  const change = (state, keys) => { linkOf(state)[name] = merged(tableOf(state), keys); };
  const label = title.replace(/^an? /, "");
  return [
    { id: name, label: label[0].toUpperCase() + label.slice(1), check: true,
      get: (state) => tableOf(state) !== undefined,
      set: (state, isOn) => {
        const link = linkOf(state);
        if (isOn) link[name] = neededOf(kind);
        else delete link[name];
      } },
    ...kind.settings.map((setting) => fieldOf(setting, `${name}-${setting.key}`, tableOf, change)),
    { id: `${name}-on`, label: "Direction", options: () => ["forward", "backward", "both"].map((side) => [side, side]),
      shown: (state) => tableOf(state) !== undefined,
      get: (state) => tableOf(state).on ?? "forward",
      set: (state, on) => change(state, { on }) },
  ];
}

// The applications of the flows with a control, which the page gives to all of them.
const APPS = D.apps.filter((app) => app.name !== UDP_FLOW);
const appOf = (state) => {
  const app = flowsWithControl(state.scenario)[0]?.app ?? "bulk";
  return isTable(app) ? app : { kind: app };
};

function setApp(state, app) {
  for (const flow of flowsWithControl(state.scenario)) {
    flow.app = app;
    if (app.kind === "bulk") delete flow.app;
  }
}

function changeApp(state, keys) {
  const together = {};
  for (const [first, second] of D.app_settings_together)
    for (const [key, partner] of [[first, second], [second, first]])
      if (key in keys) together[partner] = keys[key] && (appOf(state)[partner] ?? keys[key]);
  setApp(state, merged(appOf(state), { ...together, ...keys }));
}

const udpOf = (state) => state.scenario.flow.find(isDatagrams);

const GROUPS = [
  ["Path", [
    { id: "link", label: "Link", title: "The link that the pictures show and these controls change", options: (state) => state.scenario.link.map(({ name }) => [name, name]),
      shown: (state) => state.scenario.link.length > 1,
      get: (state) => linkOf(state).name,
      set: (state, name) => {
        delete state.queue_ms; // of the link before
        state.link = name;
      } },
    { id: "rate", label: "Rate", scale: { least: 1e5, most: 1e9, log: true }, toText: rateText, toNumber: parseRate,
      get: (state) => linkOf(state).rate,
      shown: (state) => linkOf(state).rate !== undefined,
      set: (state, text) => { linkOf(state).rate = text; } },
    { id: "delay", label: "One-way delay", scale: { least: 1e-5, most: 0.5, log: true }, toText: timeText, toNumber: seconds,
      get: (state) => linkOf(state).delay,
      set: (state, text) => { linkOf(state).delay = text; } },
    { id: "loss-rate", label: "Lost packets", title: RANDOM.settings[0].what, scale: { least: 1e-5, most: 0.5, log: true, zero: true },
      toText: (share) => String(three(share)), toNumber: fraction,
      shown: (state) => ["none", "script", RANDOM.name].includes(lossKind(state)),
      get: (state) => String(lostShare(state)),
      set: (state, text) => {
        const { on } = lossOf(state);
        linkOf(state).loss = merged({ kind: RANDOM.name, on }, { rate: fraction(text) });
      } },
  ]],
  ["Loss", [
    { id: "loss", label: "Kind", options: () => [["none", "none"], ...D.losses.map((loss) => [loss.name, loss.title]), ["script", "a list"]],
      available: (state) => ["none", ...D.losses.map((loss) => loss.name), lossKind(state)],
      get: lossKind,
      set: (state, kind) => {
        linkOf(state).loss = { kind, ...neededOf(named(D.losses, kind)) };
      } },
    ...fieldsOf(D.losses.filter((loss) => loss !== RANDOM), (kind, key) => `loss-${key}`, (state, kind) => (lossKind(state) === kind ? lossOf(state) : undefined),
      (state, keys, kind) => { linkOf(state).loss = merged(lossOf(state), { kind, ...keys }); }),
  ]],
  ["Queue", [
    { id: "discipline", label: "Discipline", options: () => [["droptail", "drop-tail"], ...D.queues.map((queue) => [queue.name, queue.title])],
      get: (state) => queueOf(state).kind ?? "droptail",
      set: (state, kind) => {
        const { limit } = queueOf(state);
        linkOf(state).queue = { kind, limit, ...neededOf(named(D.queues, kind)) };
      } },
    { id: "unit", label: "Limit in", options: () => [["p", "packets"], ["ms", "ms"], ["bdp", "BDP"], ["bytes", "bytes"], ["unlimited", "no limit"]],
      get: unitOfLimit,
      set: (state, unit) => {
        delete state.queue_ms;
        if (unit === "ms") state.queue_ms = 100;
        else setQueue(state, { limit: LIMITS[unit] });
      } },
    { id: "limit", label: "Limit", scale: { of: (state) => LIMIT_SCALES[unitOfLimit(state)], log: true },
      shown: (state) => unitOfLimit(state) !== "unlimited",
      get: (state) => {
        const { limit } = queueOf(state);
        if (state.queue_ms !== undefined) return `${state.queue_ms}ms`;
        const { kind, number: ps } = measure(limit);
        return kind === "time" ? `${ps / 1e9}ms` : limit;
      },
      toNumber: (text) => Number.parseFloat(text),
      toText: (value, state) => {
        const unit = unitOfLimit(state);
        return unit === "bytes" ? `${Math.round(value)}B` : unit === "p" ? `${Math.round(value)}p` : `${three(value)}${unit}`;
      },
      set: (state, text) => {
        if (text.trim().endsWith("ms")) state.queue_ms = number(text.trim().slice(0, -2));
        else {
          delete state.queue_ms;
          setQueue(state, { limit: text });
        }
      } },
    ...fieldsOf(D.queues, (kind, key) => `${kind.name}-${key}`, (state, kind) => ofKind(queueOf(state), kind), setQueue),
  ]],
  ["Impairments", D.impairments.flatMap(impairmentFields)],
  ["Flows", [
    { id: "count", label: "Identical flows", scale: { least: 1, most: 100, log: true }, toText: (value) => String(Math.round(value)), toNumber: number,
      get: (state) => String(flowsWithControl(state.scenario)[0].count ?? 1),
      shown: (state) => flowsWithControl(state.scenario).length > 0,
      set: (state, text) => { flowsWithControl(state.scenario)[0].count = number(text); } },
    { id: "delayed", label: "Segments per ACK", scale: { least: 1, most: 8 }, toText: (value) => String(Math.round(value)), toNumber: number,
      get: (state) => {
        const [flow] = flowsWithControl(state.scenario);
        return String(flow?.delayed_ack ?? D.profiles[state.scenario.profile ?? "rfc"].sections.flow.delayed_ack);
      },
      set: (state, text) => { for (const flow of flowsWithControl(state.scenario)) flow.delayed_ack = number(text); } },
    { id: "app", label: "Application", options: () => APPS.map(({ name }) => [name, name]),
      shown: (state) => flowsWithControl(state.scenario).length > 0,
      get: (state) => appOf(state).kind,
      set: (state, kind) => setApp(state, { kind, ...neededOf(named(APPS, kind)) }) },
    ...fieldsOf(APPS, (kind, key) => `app-${key}`, (state, kind) => ofKind(appOf(state), kind), changeApp),
    { id: "udp", label: "Competing UDP", scale: { least: 1e4, most: 1e9, log: true, zero: true }, toText: rateText, toNumber: parseRate,
      get: (state) => udpOf(state)?.app.rate ?? "0bps",
      set: (state, text) => setUdp(state, text) },
    { id: "pulse", label: "UDP on and off", check: true,
      shown: (state) => udpOf(state) !== undefined,
      get: (state) => udpOf(state)?.app.on !== undefined,
      set: (state, isOn) => {
        const { on, off, durations, ...app } = udpOf(state).app;
        udpOf(state).app = isOn ? { ...app, on: "10s", off: "10s" } : app;
      } },
  ]],
  ["Run", [
    { id: "duration", label: "Duration", scale: { least: 1, most: 600, log: true }, toText: timeText, toNumber: seconds,
      get: (state) => state.scenario.duration,
      set: (state, text) => { state.scenario.duration = text; } },
    { id: "seed", label: "Seed", scale: { least: 1, most: 100 }, toText: (value) => String(Math.round(value)), toNumber: number,
      get: (state) => String(state.seed),
      set: (state, text) => { state.seed = number(text); } },
    { id: "profile", label: "Other settings from", options: () => Object.entries(D.profiles).map(([name]) => [name, name]),
      get: (state) => state.scenario.profile ?? "rfc",
      set: (state, name) => { state.scenario.profile = name; } },
  ]],
];

function setUdp(state, text) {
  const { flow } = state.scenario;
  const datagrams = udpOf(state);
  const rate = parseRate(text);
  if (rate === 0) state.scenario.flow = flow.filter((entry) => entry !== datagrams);
  else if (datagrams) datagrams.app.rate = text;
  else {
    const [{ from, to }] = flow;
    flow.push({ name: UDP_FLOW, from, to, app: { kind: "udp", rate: text } });
  }
}

// Returns whether an element has to show something new: building it again takes long.
const shownBy = new WeakMap();
function changed(element, what) {
  const text = JSON.stringify(what);
  const before = shownBy.get(element);
  shownBy.set(element, text);
  return text !== before;
}

export class Controls {
  #fields = [];

  // `change(mutate)` applies a change of the state and returns its error, or "". `complain` reports an error that no
  // field can show; then all controls show the state again.
  constructor(change, complain) {
    this.change = change;
    this.ask = (mutate) => {
      const wrong = change(mutate);
      if (!wrong) return;
      shownBy.delete(this.lines);
      this.show(this.state);
      complain(wrong);
    };
    this.form = byId("controls");
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.lines = make("div", { class: "lines" });
    const together = { id: "together", label: "All in one network", check: true, get: (state) => Boolean(state.together),
      shown: (state) => state.lines.length > 1 && flowOfLines(state.scenario, state.lines) !== undefined,
      set: (state, isOn) => { if (isOn) state.together = true; else delete state.together; } };
    const controls = make("fieldset", {}, make("legend", {}, "Congestion controls"), this.lines, this.#field(together));
    this.form.append(controls);
    for (let place = 0; place < MOST_LINES; place++) this.#parameters(place);
    for (const [title, fields] of GROUPS)
      this.form.append(make("fieldset", {}, make("legend", {}, title), ...fields.map((field) => this.#field(field))));
  }

  // Adds the parameters of the users' files; those of a line's control are shown.
  #parameters(place) {
    const whole = (value) => String(Math.round(value));
    const fields = OWN.flatMap((control) => control.parameters.map(({ name, fallback, least, most, what }) => this.#field({
      id: `own-${place}-${name}`, label: name, title: `${what}: ${least} to ${most}, default ${fallback}`, toText: whole, toNumber: number,
      scale: { least: Math.max(least, 1), most: Math.max(most, 2), log: most > 100 * Math.max(least, 1), zero: least === 0 },
      shown: (state) => ownOfLine(state, place)?.name === control.name,
      get: (state) => String(ownOfLine(state, place)[name] ?? fallback),
      set: (state, text) => setParameter(state, place, name, number(text)),
    })));
    if (!fields.length) return;
    const legend = make("legend");
    const box = make("fieldset", {}, legend, ...fields);
    this.form.append(box);
    this.#fields.push({ show: (state) => {
      const control = OWN.find((control) => control.name === ownOfLine(state, place)?.name);
      box.hidden = !control?.parameters.length;
      legend.textContent = `${control?.label}, control ${place + 1}`;
    } });
  }

  show(state) {
    this.state = state;
    for (const field of this.#fields) field.show(state);
    this.#showLines(state);
  }

  #field(field) {
    const id = `c-${field.id}-${this.#fields.length}`;
    const widget = field.check ? this.#check(field, id) : field.options ? this.#select(field, id) : this.#slider(field, id);
    const show = (state) => {
      const isShown = field.shown?.(state) ?? true;
      widget.box.hidden = !isShown;
      if (isShown) widget.show(state);
    };
    this.#fields.push({ show });
    widget.box.dataset.field = field.id;
    return widget.box;
  }

  #check(field, id) {
    const input = make("input", { type: "checkbox", id, onchange: () => this.ask((state) => field.set(state, input.checked)) });
    const box = make("div", { class: "check" }, input, make("label", { for: id, title: field.title }, field.label));
    return { box, show: (state) => { input.checked = field.get(state); } };
  }

  #select(field, id) {
    const select = make("select", { id, onchange: () => this.ask((state) => field.set(state, select.value)) });
    const box = make("div", { class: "field" }, make("label", { for: id, title: field.title }, field.label), select);
    const show = (state) => {
      const available = field.available?.(state);
      const options = field.options(state).filter(([value]) => !available || available.includes(value));
      if (changed(select, options)) select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
      select.value = field.get(state);
    };
    return { box, show };
  }

  #slider(field, id) {
    const text = make("input", { type: "text", id, spellcheck: "false", inputmode: "text" });
    const range = make("input", { type: "range", hidden: !field.scale, min: 0, max: STEPS, step: 1, "aria-label": `${field.label}, slider` });
    const note = make("div", { class: "source", hidden: true, id: `${id}-note` });
    note.style.gridColumn = "1 / -1";
    const set = (value) => {
      const wrong = this.change((state) => field.set(state, value));
      text.setAttribute("aria-invalid", String(Boolean(wrong)));
      note.hidden = !wrong;
      note.textContent = wrong;
    };
    text.setAttribute("aria-describedby", note.id);
    text.addEventListener("change", () => set(text.value));
    range.addEventListener("input", () => {
      const value = fromScale(scaleOf(field, this.state), range.value / STEPS);
      set(field.toText(value, this.state));
    });
    const show = (state) => {
      const value = String(field.get(state));
      if (document.activeElement !== text || text.getAttribute("aria-invalid") !== "true") text.value = value;
      if (field.scale) range.value = Math.round(STEPS * toScale(scaleOf(field, state), field.toNumber(value)));
      range.setAttribute("aria-valuetext", value);
      text.setAttribute("aria-invalid", "false");
      note.hidden = true;
    };
    return { box: make("div", { class: "field" }, make("label", { for: id, title: field.title }, field.label), text, range, note), show };
  }

  #showLines(state) {
    const { scenario, lines, others } = state;
    const [flow] = flowsWithControl(scenario);
    if (!changed(this.lines, [lines, others, flow?.name, flow?.cc, isDark()])) return;
    const rows = lines.map((line, place) => {
      const keys = Object.keys(line);
      const cc = flow ? controlOf(line, flow) : UDP_FLOW;
      const name = isTable(cc) ? cc.name : cc;
      const several = keys.length > 1 || !flow;
      const choose = several
        ? make("span", {}, labelOfLine(scenario, line))
        : make("select", { "aria-label": `Control ${place + 1}`, onchange: ({ target }) => this.#setLine(place, target.value) },
            ...D.protocols.map((protocol) => make("option", { value: protocol.name, selected: protocol.name === name }, protocol.label)));
      const away = make("button", { type: "button", "aria-label": `Remove ${labelOfLine(scenario, line)}`, disabled: lines.length === 1,
        onclick: () => this.ask((next) => leaveOut(next, place)) }, "×");
      return make("div", { class: "line" }, make("i", { colour: shownColour(colourOf(name)) }), choose, away);
    });
    const isFull = lines.length >= MOST_LINES || !flow || Object.keys(lines[0]).length > 1;
    const more = make("button", { type: "button", disabled: isFull, onclick: () => this.ask((next) => addLine(next)) }, "Add a control");
    const hadFocus = this.lines.contains(document.activeElement) ? [...this.lines.querySelectorAll("select, button")].indexOf(document.activeElement) : -1;
    this.lines.replaceChildren(...rows, more, this.#others(state));
    if (hadFocus >= 0) this.lines.querySelectorAll("select, button")[hadFocus]?.focus();
  }

  // Makes a button for each comparison of the scenario that is not shown; a click shows it.
  #others({ scenario, lines, others = [] }) {
    const shown = new Set(lines.map((line) => JSON.stringify(line)));
    const buttons = others.map((line, place) => shown.has(JSON.stringify(line)) ? null :
      make("button", { type: "button", onclick: () => this.ask((next) => exchange(next, place)) }, `Show ${labelOfLine(scenario, line)}`));
    if (!buttons.some(Boolean)) return "";
    const first = lines.length < MOST_LINES ? "" : `, in place of ${labelOfLine(scenario, lines[0])}`;
    return make("div", { class: "points", role: "group", "aria-label": "Also compared" },
      make("span", { class: "source" }, `Also compared but not shown (at most ${MOST_LINES} at once). Click to show one${first}.`), ...buttons);
  }

  #setLine(place, name) {
    this.ask((state) => {
      const key = Object.keys(state.lines[place])[0] ?? controlKey(state.scenario);
      state.lines[place] = { [key]: name };
    });
  }
}

function addLine(state) {
  const key = Object.keys(state.lines[0])[0] ?? controlKey(state.scenario);
  if (!Object.keys(state.lines[0]).length) state.lines = [{ [key]: flowsWithControl(state.scenario)[0].cc }];
  const taken = state.lines.map((line) => line[key]);
  const next = ["westwood+", "newreno", "cubic", "bbr", "westwood", "reno"].find((name) => !taken.includes(name));
  state.lines.push({ [key]: next });
}
