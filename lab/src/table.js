// SPDX-License-Identifier: BSD-3-Clause
// The rows as the command line prints them: the columns with a heading, in its units and digits.

import { byId, make, shownColour } from "./dom.js";
import { D, colourOf, labelOf } from "./declared.js";

const MOST_ROWS = 60;
const EXTRA = { mean_queue: { head: "queue packets", digits: 1, scale: 1 }, utilisation: { head: "used %", digits: 1, scale: 100 } };

export function showRows(results) {
  const all = results.flatMap((result) => result.rows);
  const several = results.some((result) => result.rows.length > 1);
  const columns = D.columns
    .map((column) => ({ ...column, ...(EXTRA[column.name] ?? {}) }))
    .filter((column) => column.head)
    .filter((column) => !column.if_several || several)
    .filter((column) => !column.if_known || all.some((row) => !Number.isNaN(row[column.name])));
  const head = make("tr", {}, make("th", { scope: "col" }, "flow"), ...columns.map((column) => make("th", { scope: "col", title: column.what }, column.head)));
  const body = all.slice(0, MOST_ROWS).map((row) =>
    make("tr", {},
      make("th", { scope: "row" }, mark(row.cc), several ? `${row.flow}: ${labelOf(row.cc)}` : labelOf(row.cc)),
      ...columns.map((column) => make("td", { "data-column": column.name }, cell(column, row[column.name])))));
  const left = all.length - MOST_ROWS;
  byId("about").textContent = `Output of westwood run for this seed, one row per flow${left > 0 ? `; ${left} more are not shown` : ""}`;
  byId("rows").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
}

const mark = (cc) => {
  const line = make("i", { colour: shownColour(colourOf(cc)) });
  line.className = "mark";
  return line;
};

const cell = ({ scale, digits }, value) => (value === undefined || Number.isNaN(value) ? "-" : (value * scale).toFixed(digits));
