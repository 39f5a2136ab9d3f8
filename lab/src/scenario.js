// SPDX-License-Identifier: BSD-3-Clause
// The page holds a scenario as TOML has it, in tables. This completes one from its profile, as
// westwood/scenario/completion.py does; the engine reads and checks it.

import { D, UDP } from "./declared.js";
import { expectedOne, Problem, within } from "./problem.js";

export const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isDatagrams = (flow) => kindOf(flow.app) === UDP;
const kindOf = (app) => (isTable(app) ? app.kind : app);

function completeLink(given, { sections: profile }) {
  const link = { ...profile.link, ...given };
  if (isTable(link.loss)) link.loss = { ...profile.loss, ...link.loss };
  return link;
}

// Refuses what would have no effect on datagrams.
function checkDatagrams(flow) {
  for (const key of Object.keys(flow))
    if (!D.of_datagrams.includes(key)) throw new Problem("has no effect on datagrams, or is no key", key, flow[key]);
}

function completeFlow(given, { sections: profile, by_protocol: byProtocol }) {
  const app = isTable(given.app) || given.app === undefined ? given.app : { kind: given.app };
  if (isDatagrams(given)) checkDatagrams(given);
  const cc = isTable(given.cc) ? given.cc : { name: given.cc ?? (isDatagrams(given) ? UDP : undefined) };
  if (cc.name === undefined) throw new Problem("is missing", "cc");
  const { recovery: usual, cc: own } = byProtocol[cc.name] ?? {};
  const recovery = given.recovery ?? usual;
  const hasSack = cc.name !== UDP && D.recoveries_with_sack.includes(recovery);
  const flow = { ...profile.flow, ...(hasSack ? profile.sack : {}), ...given, recovery, cc: { ...own, ...cc } };
  return app === undefined ? flow : { ...flow, app };
}

// The scenario with its profile's values where it has none; throws a Problem if something is wrong.
export function complete(scenario) {
  if (!isTable(scenario)) throw new Problem("expected a scenario", "", scenario);
  const { profile: name = "rfc" } = scenario;
  if (!Object.hasOwn(D.profiles, name)) throw new Problem(expectedOne(Object.keys(D.profiles)), "profile", name);
  const profile = D.profiles[name];
  const completed = { ...scenario };
  for (const [key, make] of [["link", completeLink], ["flow", completeFlow]])
    if (Array.isArray(scenario[key]))
      completed[key] = scenario[key].map((one, place) =>
        isTable(one) ? within(typeof one.name === "string" ? one.name : `${key} ${place + 1}`, () => make(one, profile)) : one);
  return completed;
}
