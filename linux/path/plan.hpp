// SPDX-License-Identifier: GPL-2.0-only
//
// Reads a plan (wire/plan.hpp) and checks what Linux adds to it.
#pragma once

#include <istream>

#include "../../wire/plan.hpp"

namespace ww::path {

using wire::Plan;
using wire::PlanError;

// Reads a plan, or throws PlanError. The network has passed the engine's checks, and Linux has a congestion
// control for each flow.
Plan read_plan(std::istream& text);

// Returns the kernel's name of a flow's congestion control; empty: Linux has none. A user's control has the name that
// the plan's statement `object` gives it.
std::string control_of(const Plan& plan, std::size_t flow);

// Returns whether a flow's host uses selective acknowledgments. Linux recovers as NewReno does only without
// SACK; every other recovery uses it.
bool has_sack(const sim::Flow& flow);

}  // namespace ww::path
