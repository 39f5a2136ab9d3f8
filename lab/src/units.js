// SPDX-License-Identifier: BSD-3-Clause
// Writes quantities with their units, as westwood/units.py does. The engine reads them.

const RATES = { bps: 1n, kbps: 10n ** 3n, Mbps: 10n ** 6n, Gbps: 10n ** 9n, Tbps: 10n ** 12n };
const TIMES = { ps: 1n, ns: 10n ** 3n, us: 10n ** 6n, ms: 10n ** 9n, s: 10n ** 12n };

// Whether a queue's limit is a time.
export const isTime = (limit) => typeof limit === "string" && /(s|min|h)$/.test(limit);

// Writes a whole number of the base unit exactly, in the largest unit that makes it at least 1.
function written(value, units) {
  const [unit, scale] = Object.entries(units).filter(([, s]) => s <= (value > 0n ? value : 1n)).at(-1);
  const rest = value % scale;
  const decimals = rest ? `.${String(rest).padStart(String(scale).length - 1, "0").replace(/0+$/, "")}` : "";
  return `${value / scale}${decimals}${unit}`;
}

export const formatRate = (bps) => written(BigInt(Math.round(bps)), RATES);
export const formatTime = (ps) => (ps ? written(ps, TIMES) : "0s");
