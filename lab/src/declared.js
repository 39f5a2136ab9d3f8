// SPDX-License-Identifier: BSD-3-Clause
// The package's declarations, which tools/lab.py puts into the page: protocols, profiles, columns, presets.

import declared from "./declared.json";

export const D = declared;

export const UDP = "udp";
export const labelOf = (cc) => (cc === UDP ? "UDP" : (D.protocols.find((one) => one.name === cc)?.label ?? cc));
export const colourOf = (cc) => (cc === UDP ? "#999999" : (D.protocols.find((one) => one.name === cc)?.colour ?? "#555555"));
