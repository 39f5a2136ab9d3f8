// SPDX-License-Identifier: BSD-3-Clause
// Draws the panels as one picture for a file: SVG, and PNG from it. On white, like a printed page.

const WIDTH = 960, LEFT = 66, RIGHT = 26, GAP = 34, TOP = 46, BOTTOM = 40;
const INK = "#1b2426", SOFT = "#566468", GRID = "#e4e8e9";
const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const ROW = 15, SAMPLE = 34; // height of a legend's row, length of a line in it
const OTHER_FONTS = 1.15; // a viewer's letters may be this much wider than ours

const escaped = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const text = (x, y, what, more = "") => `<text x="${x}" y="${y}" fill="${SOFT}" font-size="11" ${more}>${escaped(what)}</text>`;

// Returns about five round numbers from `least` to `most`.
export function ticks(least, most) {
  const rough = (most - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((size) => size * power).find((size) => size >= rough);
  const first = Math.ceil(least / step) * step;
  return Array.from({ length: Math.floor((most - first) / step + 1e-9) + 1 }, (_, i) => +(first + i * step).toPrecision(12));
}

export function svg(panels, title, about) {
  const drawn = panels.filter((panel) => panel.lines.length);
  let y = TOP;
  const parts = drawn.map((panel) => {
    const legend = legendOf(panel);
    const top = y + 18 + ROW * (legend.rows - 1);
    y = top - 18 + panel.height + GAP;
    return `${legend.drawn(top)}\n${drawnPanel(panel, top)}`;
  });
  const height = y + BOTTOM;
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

// Returns a panel's title and legend: their number of rows, and how they are drawn above `top`.
function legendOf({ title, unit, lines }) {
  const ruler = document.createElement("canvas").getContext("2d");
  const widthOf = (what, font) => {
    ruler.font = `${font} ${FONT}`;
    return OTHER_FONTS * ruler.measureText(what).width;
  };
  const head = `${title}${unit ? `, ${unit}` : ""}`;
  const most = WIDTH - RIGHT - LEFT;
  let x = LEFT + widthOf(head, "600 12px") + 24, row = 0;
  const items = lines.filter((line) => !line.thin).map((line) => {
    const needed = SAMPLE + 5 + widthOf(line.label, "11px");
    const width = Math.min(most, needed);
    if (x > LEFT && x + width > WIDTH - RIGHT) [x, row] = [LEFT, row + 1];
    const squeezed = needed > most ? `textLength="${most - SAMPLE - 5}" lengthAdjust="spacingAndGlyphs"` : "";
    const item = { line, x, row, squeezed };
    x += width + 16;
    return item;
  });
  const drawn = (top) => {
    const baseline = (level) => top - 4 - ROW * (row - level);
    return [`<text x="${LEFT}" y="${baseline(0)}" fill="${INK}" font-size="12" font-weight="600">${escaped(head)}</text>`,
      ...items.map(({ line, x: left, row: level, squeezed }) =>
        `<path d="M${left.toFixed(1)} ${baseline(level) - 4}h${SAMPLE}" stroke="${line.colour}" stroke-width="2" stroke-dasharray="${line.dash.join(" ")}"/>${text((left + SAMPLE + 5).toFixed(1), baseline(level), line.label, squeezed)}`)].join("\n");
  };
  return { rows: row + 1, drawn };
}

function drawnPanel(panel, top) {
  const width = WIDTH - LEFT - RIGHT;
  const finite = panel.lines.flatMap((line) => Array.from(line.values).filter(Number.isFinite));
  const high = Math.min(panel.most, finite.reduce((a, b) => Math.max(a, b), 1e-9));
  const most = Math.max(high, ...panel.levels.filter((level) => level <= 4 * high)) * 1.06;
  const least = panel.key === "rtt" ? 0.9 * finite.reduce((a, b) => Math.min(a, b), high) : 0;
  const [from, to] = [panel.x[0], panel.x.at(-1)];
  const across = (time) => LEFT + ((time - from) / (to - from)) * width;
  const up = (value) => top + panel.height - 12 - ((value - least) / (most - least)) * (panel.height - 12);
  const grid = ticks(least, most).map(
    (value) => `<path d="M${LEFT} ${up(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${GRID}"/>${text(LEFT - 6, (up(value) + 4).toFixed(1), value, 'text-anchor="end"')}`);
  const levels = panel.levels.filter((level) => level <= most).map(
    (level) => `<path d="M${LEFT} ${up(level).toFixed(1)}H${WIDTH - RIGHT}" stroke="${SOFT}" stroke-dasharray="5 5"/>`);
  const lines = panel.lines.map(({ values, colour, dash, thin }) => {
    let path = "", pen = "M", last = "";
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) { pen = "M"; return; }
      const point = `${across(panel.x[i]).toFixed(1)} ${up(Math.min(value, most)).toFixed(1)}`;
      if (point !== last) path += `${pen}${point}`;
      last = point;
      pen = "L";
    });
    const dashes = thin ? "2 3" : dash.join(" ");
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${thin ? 1 : 1.6}"${dashes ? ` stroke-dasharray="${dashes}"` : ""}/>`;
  });
  return [...grid, ...levels, ...lines].join("\n");
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
