// SPDX-License-Identifier: BSD-3-Clause
// Makes a report's figures interactive. Each <figure> has its picture and the picture's data as JSON
// (westwood/draw/alive.py). If this script runs, plots replace the picture: zoom by dragging, values under the
// pointer, a switch for each curve.

import uPlot from "uplot";
import uplotStyle from "uplot/dist/uPlot.min.css";
import style from "./plots.css";
import { make } from "./dom.js";

const INK = "#1a1a1a", GRID = "#dddddd", FONT = "11px system-ui, DejaVu Sans, sans-serif";
const HEIGHT_PX = 260, LEAST_PX = 240, SIDE_BY_SIDE_PX = 560; // panels stand side by side in wider figures
const MARK_PX = 3.2, CAP_PX = 2.5;
const SHAPES = {
  s: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  "^": [[0, -1.2], [1.1, 0.9], [-1.1, 0.9]],
  v: [[0, 1.2], [1.1, -0.9], [-1.1, -0.9]],
  D: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
  P: [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
  X: [[-1.2, -0.7], [-0.7, -1.2], [0, -0.5], [0.7, -1.2], [1.2, -0.7], [0.5, 0], [1.2, 0.7], [0.7, 1.2], [0, 0.5], [-0.7, 1.2], [-1.2, 0.7], [-0.5, 0]],
  h: [[0, -1.2], [1.05, -0.6], [1.05, 0.6], [0, 1.2], [-1.05, 0.6], [-1.05, -0.6]],
};

const digits = (value) => String(Number(value.toPrecision(4)));

// A panel: its switches and its plot.
class Panel {
  constructor(panel, by, place, sync) {
    this.panel = panel;
    this.bounds = new Map(panel.curves.map((curve, i) => [i + 1, new Map(curve.x.map((x, place) => [x, [curve.low?.[place], curve.high?.[place]]]))]));
    this.switches = panel.curves.map((curve, i) => this.#switch(curve, i + 1));
    const all = make("button", { type: "button", onclick: () => this.#show(...panel.x.limits) }, "Show all");
    this.field = make("div", { class: "field" });
    this.element = make("div", { class: "panel", role: "group", "aria-label": panel.title || panel.y.name },
      panel.title ? make("p", { class: "title" }, panel.title) : null,
      make("div", { class: "switches" }, by ? `${by}:` : null, ...this.switches.map(({ element }) => element), all), this.field);
    place.append(this.element);
    this.plot = new uPlot(this.#options(sync), this.#data(), this.field);
    new ResizeObserver(() => this.#resize()).observe(this.element);
  }

  #switch(curve, series) {
    const box = make("input", { type: "checkbox" });
    box.checked = true;
    box.addEventListener("change", () => this.plot.setSeries(series, { show: box.checked }));
    const sample = make("canvas", { width: 44, height: 16, "aria-hidden": "true" });
    this.#sample(sample.getContext("2d"), curve);
    const value = make("output");
    return { element: make("label", {}, box, sample, curve.name || this.panel.y.name, value), value };
  }

  #sample(ctx, curve) {
    ctx.scale(2, 2);
    ctx.lineWidth = 1.6;
    ctx.strokeStyle = curve.colour;
    ctx.setLineDash(curve.dash ?? []);
    ctx.beginPath();
    if (curve.dash) ctx.moveTo(0, 4), ctx.lineTo(22, 4);
    ctx.stroke();
    mark(ctx, curve, 11, 4, MARK_PX);
  }

  // The curves over the union of their x values, with gaps where only other curves have a point.
  #data() {
    return uPlot.join(this.panel.curves.map(({ x, y }) => [x, y]));
  }

  #width = () => Math.max(LEAST_PX, this.element.clientWidth);

  #resize() {
    if (this.plot.width !== this.#width()) this.plot.setSize({ width: this.#width(), height: HEIGHT_PX });
  }

  #show(min, max) {
    this.plot.setScale("x", { min, max });
  }

  #options(sync) {
    const { x, y, curves } = this.panel;
    const axis = { stroke: INK, grid: { stroke: GRID, width: 1 }, ticks: { show: false }, font: FONT, labelFont: FONT, labelSize: 18 };
    const values = (_, splits) => splits.map((split) => (split === null ? "" : digits(split)));
    return {
      width: this.#width(),
      height: HEIGHT_PX,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: x.log ? 3 : 1, auto: false, min: x.limits[0], max: x.limits[1], range: (_, least, most) => [least, most] },
        y: { distr: y.log ? 3 : 1, range: (plot) => this.#range(plot) },
      },
      axes: [{ ...axis, label: x.name, size: 30, values }, { ...axis, label: y.name, size: 52, values }],
      cursor: { drag: { x: true, y: false }, sync: sync ? { key: sync } : undefined, points: { size: 6 }, dataIdx: nearest, bind: { dblclick: () => () => this.#show(...x.limits) } },
      series: [{}, ...curves.map((curve) => ({
        label: curve.name,
        stroke: curve.colour,
        width: curve.dash ? curve.width : 0,
        dash: curve.dash ?? undefined,
        paths: curve.dash ? (curve.steps ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear()) : () => null,
        points: { show: false },
      }))],
      hooks: {
        drawSeries: [(plot, series) => this.#points(plot, series)],
        setCursor: [(plot) => this.#values(plot)],
      },
    };
  }

  // The y range: as in the picture, or of the visible points with their intervals after zooming.
  #range(plot) {
    const { x, y } = this.panel;
    const { min, max } = plot.scales.x;
    if (min === undefined || min === null || (min <= x.limits[0] && max >= x.limits[1])) return y.limits;
    let [least, most] = [Infinity, -Infinity];
    this.panel.curves.forEach((curve, i) => {
      if (plot.series[i + 1]?.show === false) return;
      curve.x.forEach((x, place) => {
        if (x < min || x > max || curve.y[place] === null) return;
        least = Math.min(least, curve.low?.[place] ?? curve.y[place]);
        most = Math.max(most, curve.high?.[place] ?? curve.y[place]);
      });
    });
    if (!(most > least)) return y.limits;
    const room = 0.06 * (most - least);
    return y.log ? [least / 1.1, most * 1.1] : [least >= 0 ? Math.max(0, least - room) : least - room, most + room];
  }

  // Draws a curve's intervals and marks.
  #points(plot, series) {
    const curve = this.panel.curves[series - 1];
    if (!curve.mark && !curve.low) return;
    const { ctx, bbox } = plot;
    const px = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = curve.colour;
    ctx.lineWidth = px;
    curve.x.forEach((x, place) => {
      if (curve.y[place] === null) return;
      const [left, top] = [plot.valToPos(x, "x", true), plot.valToPos(curve.y[place], "y", true)];
      if (curve.low && curve.high[place] > curve.low[place]) whisker(ctx, left, plot.valToPos(curve.low[place], "y", true), plot.valToPos(curve.high[place], "y", true), CAP_PX * px);
      mark(ctx, curve, left, top, MARK_PX * px);
    });
    ctx.restore();
  }

  #values(plot) {
    const isOver = plot.cursor.left >= 0;
    this.panel.curves.forEach((curve, i) => {
      const place = plot.cursor.idxs?.[i + 1];
      const y = isOver && place !== null && place !== undefined && plot.series[i + 1].show ? plot.data[i + 1][place] : undefined;
      this.switches[i].value.textContent = y === undefined || y === null ? "" : valueText(y, this.bounds.get(i + 1).get(plot.data[0][place]));
    });
  }
}

function valueText(y, [low, high]) {
  return low === undefined || low === null || high === low ? digits(y) : `${digits(y)} (${digits(low)} to ${digits(high)})`;
}

// The index of the curve's own point nearest to the pointer.
function nearest(plot, series, place) {
  const values = plot.data[series];
  const isThere = (place) => values[place] !== undefined && values[place] !== null;
  if (isThere(place)) return place;
  let [before, after] = [place - 1, place + 1];
  while (before >= 0 && !isThere(before)) before -= 1;
  while (after < values.length && !isThere(after)) after += 1;
  if (before < 0) return after < values.length ? after : null;
  if (after >= values.length) return before;
  const away = (place) => Math.abs(plot.valToPos(plot.data[0][place], "x") - plot.cursor.left);
  return away(before) <= away(after) ? before : after;
}

function whisker(ctx, left, low, high, cap) {
  ctx.beginPath();
  for (const end of [low, high]) ctx.moveTo(left - cap, end), ctx.lineTo(left + cap, end);
  ctx.moveTo(left, low);
  ctx.lineTo(left, high);
  ctx.stroke();
}

function mark(ctx, { mark: shape, colour, hollow }, left, top, size) {
  if (!shape) return;
  ctx.save();
  ctx.setLineDash([]);
  ctx.beginPath();
  if (SHAPES[shape]) SHAPES[shape].forEach(([x, y], i) => ctx[i ? "lineTo" : "moveTo"](left + size * x, top + size * y));
  else ctx.arc(left, top, size, 0, 2 * Math.PI);
  ctx.closePath();
  ctx.fillStyle = hollow ? "#ffffff" : colour;
  ctx.fill();
  ctx.strokeStyle = colour;
  ctx.stroke();
  ctx.restore();
}

function enliven(figure, number) {
  const { by, panels } = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const same = panels.every((panel) => JSON.stringify(panel.x.limits) === JSON.stringify(panels[0].x.limits));
  const place = make("div", { class: "plots" });
  figure.append(place);
  try {
    const isWide = panels[0].side_by_side && figure.clientWidth > SIDE_BY_SIDE_PX;
    place.style.gridTemplateColumns = `repeat(${isWide ? Math.min(panels.length, 3) : 1}, minmax(0, 1fr))`;
    figure.plots = panels.map((panel) => new Panel(panel, by, place, same && panels.length > 1 ? `figure-${number}` : "").plot);
    figure.classList.add("alive");
  } catch (error) {
    place.remove(); // the picture stays
    console.error(error);
  }
}

document.head.append(make("style", {}, uplotStyle, style));
[...document.querySelectorAll('figure:has(> script[type="application/json"])')].forEach(enliven);
