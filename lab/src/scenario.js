// SPDX-License-Identifier: BSD-3-Clause
// The page holds a scenario as TOML has it, in tables. The engine completes, reads and checks it.

import { isTable } from "./data.js";
import { D, UDP } from "./declared.js";
import { expectedOne, Problem } from "./problem.js";

export const isDatagrams = (flow) => kindOf(flow.app) === UDP;
const kindOf = (app) => (isTable(app) ? app.kind : app);

// The name of a flow's protocol.
export const protocolOf = ({ cc = UDP }) => (isTable(cc) ? cc.name : cc);

// The profile of a scenario; throws a Problem if there is none.
export function profileOf(scenario) {
  if (!isTable(scenario)) throw new Problem("expected a scenario", "", scenario);
  const { profile: name = "rfc" } = scenario;
  if (!Object.hasOwn(D.profiles, name)) throw new Problem(expectedOne(Object.keys(D.profiles), name), "profile", name);
  return D.profiles[name];
}
