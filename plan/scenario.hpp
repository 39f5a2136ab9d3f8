// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a plan of a scenario. The scenario has every setting that its profile supplies, in the form that a
// scenario file has (docs/scenarios.md): tables `link` and `flow`, quantities with their units. A setting that is
// left out has its declared default.
#pragma once

#include <map>
#include <stdexcept>

#include "../wire/plan.hpp"
#include "section.hpp"

namespace ww::plan {

// What a scenario says, and what follows from its whole network, by the place in the list of links or flows.
struct Scenario {
    wire::Plan plan;
    std::vector<std::string> flows;              // the names of single flows: NAME-1 of a group
    std::map<std::size_t, std::int64_t> limits;  // packets of the queue limits in products or times
    std::map<std::size_t, std::uint32_t>
        windows;  // bytes of the receive windows that are not given
};
Scenario read_whole(const Table& scenario);

// Returns the network and the protocols of its flows, in the engine's units, or throws Problem for a value that a
// scenario cannot have. engine/validate.hpp checks what remains: whether the values fit together.
wire::Plan read_scenario(const Table& scenario);

}  // namespace ww::plan
