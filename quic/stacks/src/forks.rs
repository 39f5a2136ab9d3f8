// SPDX-License-Identifier: BSD-3-Clause
//! The forks that this runner was built with: none. `tools/quic_forks.py` writes this file anew for a build with some.

use crate::{Options, Pair};
use std::ffi::CStr;

/// A line for each: its name, package, version and controls.
pub(crate) const LINES: &CStr = c"";

/// Opens a connection of a fork; `None` if there is none of this name.
pub(crate) fn open(_stack: &str, _options: &Options) -> Option<Result<Box<dyn Pair>, String>> {
    None
}
