// SPDX-License-Identifier: BSD-3-Clause
// Draws the panels with uPlot: one time axis, a cursor over all of them, zoom by dragging, and the senders' decisions
// as marks on the window.

import uPlot from "uplot";
import { byId, make, shownColour, variable } from "./dom.js";

const MOST_MARKS = 400;
const NEAR_PX = 14;
const LOSS_PX = 12; // the height of a lost packet's tick
const MARKS = { recovery: "▼", timeout: "✕", ecn: "◆", undo: "▲", probe: "?", exit: "" };
const AXIS_PX = 52;
const WIDTH_PX = 1.6;
const MOST_TRAVEL = 400; // of all curves, to be drawn with wide strokes
const USUAL_PX = 630; // height of all panels
const OTHER_PX = 350; // height of everything above and between them
const LEAST_SHARE = 0.7;

export class Panels {
  #plots = [];
  #shown = null;
  #chips = [];
  #width = 0;

  // Calls `zoom(from_s, to_s)` and `explain(decision)` when the user asks for them.
  constructor({ zoom, explain }) {
    Object.assign(this, { zoom, explain });
    this.box = byId("panels");
    this.#measure();
    new ResizeObserver(() => this.#resize()).observe(this.box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#shown && this.#build());
  }

  // Width of a plot. Reading it from the box at every move would make the browser lay out the page each time.
  get width() {
    return this.#width;
  }

  #measure() {
    this.#width = Math.max(240, this.box.clientWidth - 14);
  }

  // Share of the panels' usual heights with which all of them fit into a window of 800 pixels below the headline.
  get #share() {
    return Math.min(1, Math.max(LEAST_SHARE, (innerHeight - OTHER_PX) / USUAL_PX));
  }

  show(panels, decisions, losses, { from_s, to_s }) {
    const before = this.#shown;
    this.#shown = { panels, decisions, losses, span: [from_s, to_s], width: widthOf(panels) };
    const same = before && shapeOf(before.panels) === shapeOf(panels);
    if (!same) this.#build();
    else
      this.#plots.forEach((plot, i) => {
        if (!plot) return;
        panels[i].lines.forEach((line, place) => { plot.series[place + 1].width = this.#widthOf(line); });
        plot.setData(dataOf(panels[i]));
      });
  }

  #build() {
    const { panels } = this.#shown;
    this.#plots.forEach((plot) => plot?.destroy());
    this.#chips = [];
    this.box.replaceChildren();
    this.#plots = panels.map((panel, place) => {
      const head = make("h2", { title: panel.what }, panel.title, make("small", {}, panel.unit));
      const chips = panel.lines.filter((line) => !line.thin).map((line) => this.#chip(line));
      head.append(...chips.map((chip) => chip.element));
      if (panel.key === "cwnd") head.append(make("small", {}, "| packet lost on the link · ▼ the sender reacts · ✕ timeout · thin: ssthresh"));
      this.#chips.push(chips);
      const place_of = make("div", { class: "plot" });
      this.box.append(make("div", { class: "panel", "data-panel": panel.key }, head, place_of));
      if (!panel.lines.length) {
        head.append(make("small", {}, panel.empty));
        return null;
      }
      return new uPlot(this.#options(panel, place === panels.length - 1), dataOf(panel), place_of);
    });
  }

  #chip(line) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    svg.setAttribute("width", "34");
    svg.setAttribute("height", "8");
    svg.setAttribute("aria-hidden", "true");
    const attributes = { x1: 0, x2: 34, y1: 4, y2: 4, stroke: shownColour(line.colour), "stroke-width": 2, "stroke-dasharray": line.dash.join(" ") };
    for (const [name, value] of Object.entries(attributes)) stroke.setAttribute(name, value);
    svg.append(stroke);
    const value = make("b");
    return { element: make("span", { class: "chip" }, svg, line.label, value), value, line };
  }

  #options(panel, isLast) {
    const axis = { stroke: variable("--soft"), grid: { stroke: variable("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, DejaVu Sans, sans-serif" };
    return {
      width: this.width,
      height: Math.round(panel.height * this.#share) + (isLast ? 22 : 0),
      padding: [6, 18, isLast ? 0 : 4, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => this.#shown.span }, y: { range: (_, least, most) => this.#range(panel, least, most) } },
      axes: [{ ...axis, size: isLast ? 26 : 0, values: isLast ? (_, splits) => splits.map((split) => `${+split.toFixed(6)} s`) : () => [] }, { ...axis, size: AXIS_PX }],
      cursor: { sync: { key: "westwood" }, drag: { x: true, y: false, setScale: false }, points: { size: 6 }, focus: { prox: -1 } },
      series: [
        {},
        ...panel.lines.map((line) => ({
          stroke: shownColour(line.colour),
          width: this.#widthOf(line),
          dash: line.thin ? [2, 3] : line.dash,
          points: { show: false },
          spanGaps: false,
        })),
      ],
      hooks: {
        drawAxes: [(plot) => this.#levels(plot, panel)],
        draw: [(plot) => panel.key === "cwnd" && (this.#losses(plot), this.#marks(plot))],
        setCursor: [(plot) => this.#values(plot, panel)],
        setSelect: [(plot) => this.#selected(plot)],
        ready: [(plot) => panel.key === "cwnd" && this.#listen(plot)],
      },
    };
  }

  #widthOf = (line) => (line.thin ? 1 : this.#shown.width);

  #range(panel, least, most) {
    const { levels, most: highest } = this.#shown.panels.find((shown) => shown.key === panel.key);
    const top = Math.max(Math.min(most ?? 0, highest), ...levels.filter((level) => level <= 4 * (most ?? 0)), 1e-9);
    const bottom = panel.key === "rtt" && least > 0 ? 0.9 * least : 0;
    return [bottom, top * 1.06];
  }

  // Draws lines at given values: the link's rate, the queue's limit.
  #levels(plot, panel) {
    const levels = this.#shown.panels.find((shown) => shown.key === panel.key).levels;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = variable("--soft");
    ctx.setLineDash([5, 5]);
    for (const level of levels) {
      const y = Math.round(plot.valToPos(level, "y", true)) + 0.5;
      if (y < bbox.top || y > bbox.top + bbox.height) continue;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  #marked = () => this.#shown.decisions.filter((decision) => MARKS[decision.kind]);

  #marks(plot) {
    const marked = this.#marked();
    if (marked.length > MOST_MARKS) return;
    const { ctx } = plot;
    ctx.save();
    ctx.font = `${10 * devicePixelRatio}px system-ui, DejaVu Sans, sans-serif`;
    ctx.textAlign = "center";
    for (const decision of marked) {
      const [x, y] = this.#place(plot, decision, true);
      ctx.fillStyle = shownColour(decision.curve.colour);
      ctx.fillText(MARKS[decision.kind], x, y - 3 * devicePixelRatio);
    }
    ctx.restore();
  }

  // Draws ticks at the bottom of the window's panel for packets that the link lost.
  #losses(plot) {
    const { losses } = this.#shown;
    if (losses.length > MOST_MARKS) return;
    const { ctx, bbox } = plot;
    const foot = bbox.top + bbox.height;
    const width = 2 * devicePixelRatio;
    const height = LOSS_PX * devicePixelRatio;
    ctx.save();
    for (const { time_s, colour } of losses) {
      const x = plot.valToPos(time_s, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.fillStyle = shownColour(colour);
      ctx.fillRect(x - width / 2, foot - height, width, height);
    }
    ctx.restore();
  }

  #place(plot, decision, onCanvas) {
    const top = plot.scales.y.max / 1.06;
    const y = Math.min(top, Number.isNaN(decision.cwnd_before) ? decision.cwnd : decision.cwnd_before);
    return [plot.valToPos(decision.time_s, "x", onCanvas), plot.valToPos(y, "y", onCanvas)];
  }

  #listen(plot) {
    plot.over.addEventListener("click", (event) => {
      const { left, top } = plot.over.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      let nearest = null, least = NEAR_PX;
      for (const decision of this.#marked()) {
        const [mx, my] = this.#place(plot, decision, false);
        const away = Math.hypot(mx - x, (my - y) / 4);
        if (away < least) [nearest, least] = [decision, away];
      }
      if (nearest) this.explain(nearest);
    });
    plot.over.addEventListener("dblclick", () => this.zoom(null));
  }

  #selected(plot) {
    const { left, width } = plot.select;
    if (width < 6) return;
    const [from_s, to_s] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.zoom(from_s, to_s);
  }

  #values(plot, panel) {
    const place = this.#plots.indexOf(plot);
    const index = plot.cursor.idx;
    this.#chips[place]?.forEach(({ value, line }) => {
      const series = panel.lines.findIndex((entry) => entry.label === line.label);
      const y = index === null || index === undefined ? null : plot.data[series + 1]?.[index];
      value.textContent = y === null || y === undefined || Number.isNaN(y) ? "" : digits(y);
    });
  }

  // Moves the cursor of all panels to a time.
  point(time_s) {
    const plot = this.#plots[0];
    if (plot) plot.setCursor({ left: plot.valToPos(time_s, "x"), top: plot.over.clientHeight / 3 });
  }

  #resize() {
    this.#measure();
    const width = this.#width;
    this.#plots.forEach((plot) => plot && plot.width !== width && plot.setSize({ width, height: plot.height }));
  }
}

const digits = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

// A stroke wider than a screen pixel costs ten times as much to draw. Curves that oscillate all the time are visible
// without it.
const widthOf = (panels) => (sumOf(panels.flatMap((panel) => panel.lines), travelOf) > MOST_TRAVEL ? 1 / devicePixelRatio : WIDTH_PX);
const sumOf = (all, value) => all.reduce((sum, element) => sum + value(element), 0);

// How far a curve moves up and down, in multiples of its height.
function travelOf({ values }) {
  let least = Infinity, most = -Infinity, travelled = 0, before = NaN;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
    if (!Number.isNaN(before)) travelled += Math.abs(value - before);
    before = value;
  }
  return most > least ? travelled / (most - least) : 0;
}

const dataOf = (panel) => [panel.x, ...panel.lines.map((line) => Array.from(line.values, (value) => (Number.isNaN(value) ? null : value)))];
const shapeOf = (panels) => JSON.stringify(panels.map((panel) => [panel.key, panel.title, panel.lines.map((line) => [line.label, line.colour, line.dash])]));
