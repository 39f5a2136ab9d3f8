// SPDX-License-Identifier: BSD-3-Clause
// Links: what follows the address of any copy of the page.
//
//   #s=WORD           a state, packed
//   #t=WORD           a scenario, packed as `westwood lab FILE` does
//   #preset=NAME      a preset
//   ...&cc=NAME,NAME  the same with these controls

import { isTable } from "./data.js";
import { D } from "./declared.js";
import { expectedOne, Problem } from "./problem.js";
import { checked, ofPreset, stateOf, withControls } from "./state.js";

const FORMAT = 1;
const DAMAGED = "this link is damaged: it contains no state of the laboratory";
const LARGEST_STATE = 8_000_000; // characters

// Packs the state into a word; fromWord() unpacks it.
export async function toWord(state) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify({ v: FORMAT, ...state })));
  let binary = "";
  for (let i = 0; i < packed.length; i += 4096) binary += String.fromCharCode(...packed.subarray(i, i + 4096));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function fromWord(word) {
  const state = await unpacked(word);
  if (!isTable(state) || state.v === undefined) throw new Problem(DAMAGED);
  if (state.v !== FORMAT) throw new Problem(`this link has format ${JSON.stringify(state.v)?.slice(0, 20)}, expected ${FORMAT}`);
  const { v, ...rest } = state;
  return checked(rest);
}

// Reads a scenario from a link of `westwood lab FILE`.
const fromScenarioWord = async (word) => stateOf(await unpacked(word));

async function unpacked(word) {
  try {
    const binary = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes));
    return JSON.parse(text);
  } catch {
    throw new Problem(DAMAGED);
  }
}

// Reads a preset from a link.
function fromPresetWord(word) {
  const name = decoded(word);
  if (!Object.hasOwn(D.presets, name)) throw new Problem(expectedOne(Object.keys(D.presets), name), "preset", name);
  return ofPreset(name);
}

function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    throw new Problem(DAMAGED);
  }
}

const READERS = { s: fromWord, t: fromScenarioWord, preset: fromPresetWord };
const LINK = /#(s|t|preset)=([^&\s]*)(?:&cc=(\S*))?/;

// Returns the part of a text that is a link to a state, from its "#" on; "" if there is none.
export const linkIn = (text) => LINK.exec(text)?.[0] ?? "";

// Returns the state of a link; undefined if it has none.
export async function stateOfLink(link) {
  const [, kind, word, names] = LINK.exec(link) ?? [];
  if (!kind) return undefined;
  const state = await READERS[kind](word);
  return names ? withControls(state, names.split(",").map(decoded)) : state;
}

// A browser unpacks a whole chunk before it can be read: a slice becomes at most a megabyte.
const SLICE = 1024;

async function feed(writer, bytes) {
  for (let start = 0; start < bytes.length; start += SLICE) await writer.write(bytes.subarray(start, start + SLICE));
  await writer.close();
}

async function through(transform, bytes) {
  feed(transform.writable.getWriter(), bytes).catch(() => {}); // the reader reports the error
  const reader = transform.readable.getReader();
  const chunks = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LARGEST_STATE) {
      reader.cancel().catch(() => {}); // stops the writer
      throw new Problem("too large");
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
