// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a plan of a scenario. The scenario has every setting that its profile supplies, in the form that a
// scenario file has (docs/scenarios.md): tables `link` and `flow`, quantities with their units. A setting that is
// left out has its declared default.
#pragma once

#include <stdexcept>

#include "../wire/plan.hpp"
#include "section.hpp"

namespace ww::plan {

// Returns the network and the protocols of its flows, in the engine's units, or throws Problem for a value that a
// scenario cannot have. engine/validate.hpp checks what remains: whether the values fit together.
wire::Plan read_scenario(const Table& scenario);

}  // namespace ww::plan
