// SPDX-License-Identifier: BSD-3-Clause
#include "stepped.hpp"

#include <algorithm>
#include <utility>

#include "../validate.hpp"

namespace ww::sim {

std::string refusal(const Network& network) {
    std::string why = validate(network);
    if (why.empty()) why = connections_of(network, 0).error;
    if (why.empty()) why = Topology(network).error();
    return why;
}

SteppedRun::SteppedRun(const Network& network, std::uint64_t seed, const Stop& stop)
    : topology_(network),
      simulation_(network, connections_of(network, seed), topology_, seed, stop) {}

bool Simulation::run_until(Time until) {
    timers_.set(end_slot_, std::min(until, end_));
    while (!stop_.asked())
        if (!advance(stop_.events())) return until < end_;
    return false;
}

Outcome Simulation::conclude_all() {
    if (stop_.events() == 0)
        result_.stopped = true;
    else
        finish();
    return std::move(result_);
}

}  // namespace ww::sim
