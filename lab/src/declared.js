// SPDX-License-Identifier: BSD-3-Clause
// The package's declarations, which tools/lab.py puts into the page: settings, protocols, profiles, columns, presets.

import declared from "./declared.json";

export const D = declared;

const sections = {};
for (const one of D.settings) (sections[one.section] ??= []).push(one);

export const settingsOf = (section) => sections[section];

export function settingsOfProtocol(protocol) {
  const { algorithm } = D.protocols.find((one) => one.name === protocol);
  return settingsOf("cc").filter((one) => one.algorithms.includes(algorithm));
}

export const UDP = "udp";
export const labelOf = (cc) => (cc === UDP ? "UDP" : (D.protocols.find((one) => one.name === cc)?.label ?? cc));
export const colourOf = (cc) => (cc === UDP ? "#999999" : (D.protocols.find((one) => one.name === cc)?.colour ?? "#555555"));
