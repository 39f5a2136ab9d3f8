// SPDX-License-Identifier: BSD-3-Clause
// What users can export from the page: files, and text for the clipboard.

import { drawnText } from "./curves.js";
import { D } from "./declared.js";
import { byId, make } from "./dom.js";
import { png, save, svg } from "./picture.js";
import { runsOf, tomlOf } from "./state.js";

const MOST_ROWS = 2_000_000; // of a trace in a file

// `latest()` returns what is shown: results, view, state, panels, and the runner.
export function openExports(latest) {
  const name = ({ state }) => state.scenario.name;
  const entries = [
    ["Scenario (TOML)", (shown) => save(`${name(shown)}.toml`, tomlOf(shown.state), "application/toml")],
    ["Picture (SVG)", (shown) => save(`${name(shown)}.svg`, picture(shown), "image/svg+xml")],
    ["Picture (PNG)", async (shown) => save(`${name(shown)}.png`, await png(picture(shown)), "image/png")],
    ["Trace (CSV)", async (shown) => save(`${name(shown)}.csv`, await csv(shown), "text/csv")],
    ["Rows (JSON)", (shown) => save(`${name(shown)}.json`, JSON.stringify(shown.results.flatMap((result) => result.rows), null, 1), "application/json")],
  ];
  closeWhenLeft(byId("export"));
  byId("menu").replaceChildren(...entries.map(([title, make_it]) =>
    make("button", { type: "button", onclick: async () => {
      const shown = latest();
      if (shown) await make_it(shown);
      byId("export").open = false;
    } }, title)));
}

// Closes a menu when the focus leaves it.
function closeWhenLeft(menu) {
  document.addEventListener("click", ({ target }) => { if (!menu.contains(target)) menu.open = false; });
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

export function picture({ panels, results, state, view, whole_s }) {
  const part = state.view ? `${view.from_s.toFixed(2)} to ${view.to_s.toFixed(2)} s of ${whole_s} s` : `${whole_s} s`;
  return svg(panels, `${state.scenario.name}, seed ${state.seed}`, `${part}${drawnText(results)}; Westwood ${D.version}, profile ${state.scenario.profile ?? "rfc"}`);
}

// The rows of the windows within the view, for each run's first connections: docs/traces.md describes the columns.
async function csv({ runner, state, view }) {
  const results = await runner.run({ runs: runsOf(state), seed: state.seed, view: { ...view, keeps_rows: true } });
  if (!results) return "";
  const columns = D.window_columns;
  const lines = [["run", "connection", ...columns].join(",")];
  results.forEach(({ label, windows }) => {
    const rows = Math.min(windows.time_s.length, MOST_ROWS);
    for (let i = 0; i < rows; i++) {
      const cells = ["connection", ...columns].map((column) => (Number.isNaN(windows[column][i]) ? "" : windows[column][i]));
      lines.push([`"${label}"`, ...cells].join(","));
    }
  });
  return `${lines.join("\n")}\n`;
}
