// SPDX-License-Identifier: BSD-3-Clause
// Parses quantities with a unit exactly: westwood/units.py defines the accepted forms. Whole numbers of the base unit
// (bit/s, ps, bytes) are BigInt, since 26 days in picoseconds exceed a double's precision.

import { Problem } from "./problem.js";

const RATES = { bps: 1n, kbps: 10n ** 3n, Mbps: 10n ** 6n, Gbps: 10n ** 9n, Tbps: 10n ** 12n };
const TIMES = {
  ps: 1n, ns: 10n ** 3n, us: 10n ** 6n, ms: 10n ** 9n, s: 10n ** 12n, min: 60n * 10n ** 12n, h: 3600n * 10n ** 12n,
};
const SIZES = { B: 1n, kB: 1000n, KiB: 1024n, MB: 10n ** 6n, MiB: 2n ** 20n, GB: 10n ** 9n, GiB: 2n ** 30n };
const SPELLINGS = { "bit/s": "bps", "b/s": "bps", "µs": "us", "μs": "us" };
const QUANTITY = /^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?) ?(\S*)$/;
const LONGEST = 40;
export const UNLIMITED = "unlimited";

// A decimal as a fraction of integers.
function fraction(number) {
  const [, sign, whole, part = "", exponent = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(number);
  const digits = BigInt(`${whole}${part}` || "0") * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - part.length;
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

function quantity(text, units, expected) {
  const match = typeof text === "string" && text.length <= LONGEST ? QUANTITY.exec(text) : null;
  if (!match) throw new Problem(`expected ${expected}`, "", text);
  let [, number, unit] = match;
  for (const [spelling, canonical] of Object.entries(SPELLINGS))
    if (unit.endsWith(spelling)) unit = unit.slice(0, -spelling.length) + canonical;
  if (!Object.hasOwn(units, unit)) {
    const problem = unit ? `unknown unit "${unit}"` : "a unit is missing";
    throw new Problem(`${problem}, expected ${expected}`, "", text);
  }
  const [over, under] = fraction(number);
  const value = over * units[unit];
  if (value < 0n) throw new Problem(`must not be negative, expected ${expected}`, "", text);
  if (value % under !== 0n)
    throw new Problem(`is not a whole number of ${Object.keys(units)[0]}, expected ${expected}`, "", text);
  return value / under;
}

// Whether a text is a number with a unit of time.
export function isTime(text) {
  const match = typeof text === "string" ? QUANTITY.exec(text) : null;
  return match !== null && (Object.hasOwn(TIMES, match[2]) || ["µs", "μs"].includes(match[2]));
}

export const parseRate = (text) => quantity(text, RATES, 'a rate such as "2Mbps"');
export const parseTime = (text) => quantity(text, TIMES, 'a time such as "45ms"');
export const parseSize = (text) => quantity(text, SIZES, 'a size such as "64KiB"');

// Packets ("100p"), bytes ("64KiB") or, unless it must be finite, "unlimited"; then count is null.
export function parseAmount(text, finite = false) {
  if (!finite && text === UNLIMITED) return { count: null, unit: "p" };
  const expected = `packets or bytes such as "100p" or "64KiB"${finite ? "" : `, or "${UNLIMITED}"`}`;
  const count = quantity(text, { p: 1n, ...SIZES }, expected);
  if (count < 1n || count > 2n ** 30n)
    throw new Problem("expected at least one packet or byte and at most 2^30", "", text);
  return { count, unit: text.endsWith("p") ? "p" : "B" };
}

// Parses a queue limit in time, "5ms"; returns ps.
export function parseQueueTime(text) {
  const time = parseTime(text);
  if (time <= 0n || time > TIMES.h) throw new Problem("expected a time of more than 0s and at most 3600s", "", text);
  return time;
}

// "0.5bdp" as a fraction of integers.
export function parseProducts(text) {
  const match = text.length <= LONGEST ? QUANTITY.exec(text) : null;
  const product = match && match[2] === "bdp" ? fraction(match[1]) : null;
  if (!product || product[0] <= 0n || product[0] > 1000n * product[1])
    throw new Problem('expected up to 1000 bandwidth-delay products, such as "0.5bdp"', "", text);
  return product;
}

export function parseFraction(value) {
  let number = -1;
  if (typeof value === "string" && value.endsWith("%") && value.length <= LONGEST) {
    const match = QUANTITY.exec(value.slice(0, -1).trimEnd());
    if (match && !match[2]) {
      const [digits, exponent = "0"] = match[1].split(/[eE]/);
      number = Number(`${digits}e${Number(exponent) - 2}`);
    }
  } else if (typeof value === "number" || typeof value === "bigint") number = Number(value);
  if (!(number >= 0 && number <= 1))
    throw new Problem('expected a fraction from 0 to 1, such as 0.005 or "0.5%"', "", value);
  return number + 0;
}

// Writes a whole number of the base unit exactly, in the largest unit that makes it at least 1.
function written(value, units) {
  const [unit, scale] = Object.entries(units).filter(([, s]) => s <= (value > 0n ? value : 1n)).at(-1);
  const rest = value % scale;
  const decimals = rest ? `.${String(rest).padStart(String(scale).length - 1, "0").replace(/0+$/, "")}` : "";
  return `${value / scale}${decimals}${unit}`;
}

const { ps, ns, us, ms, s } = TIMES;
export const formatRate = (bps) => written(BigInt(Math.round(Number(bps))), RATES);
export const formatTime = (value) => (BigInt(value) ? written(BigInt(value), { ps, ns, us, ms, s }) : "0s");
