// SPDX-License-Identifier: BSD-3-Clause
// Runs replay.c, compiled to WebAssembly, in Node: the program and its arguments.
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const wasi = new WASI({ version: "preview1", args: process.argv.slice(2) });
const program = await WebAssembly.instantiate(
  readFileSync(process.argv[2]), wasi.getImportObject());
process.exitCode = wasi.start(program.instance);
