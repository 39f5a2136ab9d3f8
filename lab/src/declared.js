// SPDX-License-Identifier: BSD-3-Clause
// The package's declarations, which tools/lab.py puts into the page: protocols, profiles, columns, presets.

import { copyOf } from "./data.js";
import declared from "./declared.json";

// Controls in users' files (own.js), which westwood/draw/laboratory.py puts into the page. A worker has no document.
export const OWN = copyOf(JSON.parse(globalThis.document?.getElementById("own")?.textContent ?? "[]"));

export const D = { ...copyOf(declared), protocols: [...declared.protocols, ...OWN] };

export const UDP = "udp";
export const labelOf = (cc) => (cc === UDP ? "UDP" : (D.protocols.find((protocol) => protocol.name === cc)?.label ?? cc));
export const colourOf = (cc) => (cc === UDP ? "#999999" : (D.protocols.find((protocol) => protocol.name === cc)?.colour ?? "#555555"));
