// SPDX-License-Identifier: BSD-3-Clause
//! Compiles the core, which is C11 without a library.

fn main() {
    println!("cargo::rerun-if-changed=core");
    println!("cargo::rerun-if-changed=src/core.c");
    cc::Build::new()
        .file("src/core.c")
        .include("core")
        .std("c11")
        .flag_if_supported("-ffp-contract=off")
        .warnings(true)
        .extra_warnings(true)
        .opt_level(2)
        .compile("ww_core");
}
