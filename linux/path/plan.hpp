// SPDX-License-Identifier: GPL-2.0-only
//
// The plan that ww-path runs is wire/plan.hpp's. This file says what Linux makes of it.
#pragma once

#include <istream>

#include "../../wire/plan.hpp"

namespace ww::path {

using wire::Plan;
using wire::PlanError;

// Reads a plan, or throws PlanError. The network has then passed the engine's own checks, and Linux has a
// congestion control for each of its flows.
Plan read_plan(std::istream& text);

// Returns the kernel's name of a protocol's congestion control; empty: Linux has none.
const char* control_of(ww_protocol protocol);

// Returns whether a flow's host has selective acknowledgments: Linux repairs losses as NewReno does only
// without them, and has them for every other recovery.
bool has_sack(const sim::Flow& flow);

}  // namespace ww::path
