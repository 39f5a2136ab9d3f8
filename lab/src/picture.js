// SPDX-License-Identifier: BSD-3-Clause
// Draws the panels as one picture for a file: SVG, and PNG from it. On white, like a printed page.

const WIDTH = 960, LEFT = 66, RIGHT = 26, GAP = 34, TOP = 46, BOTTOM = 40;
const INK = "#1b2426", SOFT = "#566468", GRID = "#e4e8e9";
const FONT = "system-ui, 'DejaVu Sans', sans-serif";

const escaped = (text) => String(text).replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
const text = (x, y, what, more = "") => `<text x="${x}" y="${y}" fill="${SOFT}" font-size="11" ${more}>${escaped(what)}</text>`;

// Returns about five round numbers from `least` to `most`.
export function ticks(least, most) {
  const rough = (most - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const first = Math.ceil(least / step) * step;
  return Array.from({ length: Math.floor((most - first) / step + 1e-9) + 1 }, (_, i) => +(first + i * step).toPrecision(12));
}

export function svg(panels, title, about) {
  const drawn = panels.filter((panel) => panel.lines.length);
  const height = TOP + drawn.reduce((sum, panel) => sum + panel.height + GAP, 0) + BOTTOM;
  let y = TOP;
  const parts = drawn.map((panel) => {
    const part = one(panel, y + 18);
    y += panel.height + GAP;
    return part;
  });
  const [from, to] = [drawn[0].x[0], 2 * drawn[0].x.at(-1) - drawn[0].x.at(-2)];
  const axis = ticks(from, to).map((time) => {
    const x = LEFT + ((time - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
    return text(x.toFixed(1), y + 4, `${time} s`, 'text-anchor="middle"');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="${FONT}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${LEFT}" y="22" fill="${INK}" font-size="15" font-weight="600">${escaped(title)}</text>
${text(LEFT, 40, about)}
${parts.join("\n")}
${axis.join("")}
</svg>
`;
}

function one(panel, top) {
  const width = WIDTH - LEFT - RIGHT;
  const finite = panel.lines.flatMap((line) => Array.from(line.values).filter(Number.isFinite));
  const high = Math.min(panel.most, finite.reduce((a, b) => Math.max(a, b), 1e-9));
  const most = Math.max(high, ...panel.levels.filter((level) => level <= 4 * high)) * 1.06;
  const least = panel.key === "rtt" ? 0.9 * finite.reduce((a, b) => Math.min(a, b), high) : 0;
  const [from, to] = [panel.x[0], panel.x.at(-1)];
  const at = (time) => LEFT + ((time - from) / (to - from)) * width;
  const up = (value) => top + panel.height - 12 - ((value - least) / (most - least)) * (panel.height - 12);
  const grid = ticks(least, most).map(
    (value) => `<path d="M${LEFT} ${up(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${GRID}"/>${text(LEFT - 6, (up(value) + 4).toFixed(1), value, 'text-anchor="end"')}`);
  const levels = panel.levels.filter((level) => level <= most).map(
    (level) => `<path d="M${LEFT} ${up(level).toFixed(1)}H${WIDTH - RIGHT}" stroke="${SOFT}" stroke-dasharray="5 5"/>`);
  const lines = panel.lines.map(({ values, colour, dash, thin }) => {
    let path = "", pen = "M", last = "";
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) { pen = "M"; return; }
      const point = `${at(panel.x[i]).toFixed(1)} ${up(Math.min(value, most)).toFixed(1)}`;
      if (point !== last) path += `${pen}${point}`;
      last = point;
      pen = "L";
    });
    const dashes = thin ? "2 3" : dash.join(" ");
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${thin ? 1 : 1.6}"${dashes ? ` stroke-dasharray="${dashes}"` : ""}/>`;
  });
  let x = LEFT;
  const legend = [`<text x="${x}" y="${top - 4}" fill="${INK}" font-size="12" font-weight="600">${escaped(panel.title)}${panel.unit ? `, ${panel.unit}` : ""}</text>`];
  x += 7.8 * (panel.title.length + panel.unit.length) + 30;
  for (const line of panel.lines.filter((each) => !each.thin)) {
    legend.push(`<path d="M${x} ${top - 8}h22" stroke="${line.colour}" stroke-width="2" stroke-dasharray="${line.dash.join(" ")}"/>${text(x + 27, top - 4, line.label)}`);
    x += 50 + 6.4 * line.label.length;
  }
  return [...grid, ...levels, ...lines, ...legend].join("\n");
}

// The SVG as a PNG at twice its size.
export async function png(source) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function save(name, data, type) {
  const blob = data instanceof Blob ? data : new Blob([data], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
