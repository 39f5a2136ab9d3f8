// SPDX-License-Identifier: BSD-3-Clause
//
// A run that its caller continues piece by piece, and between the pieces may decide what a sender does
// next. A pause takes the place of the end among the timers, so it changes no event and no order.
#pragma once

#include <string>

#include "simulation.hpp"

namespace ww::sim {

// Returns why the engine refuses the network; empty if it simulates it.
std::string refusal(const Network& network);

class SteppedRun {
  public:
    // The engine does not refuse the network, and the network outlives the run.
    SteppedRun(const Network& network, std::uint64_t seed, const Stop& stop = {});
    SteppedRun(const SteppedRun&) = delete;
    SteppedRun& operator=(const SteppedRun&) = delete;

    // Takes all events up to that time, itself included. Returns false once the run is over.
    bool run_until(Time until) { return simulation_.run_until(until); }
    // Ends the run where it is and returns its outcome.
    Outcome finish() { return simulation_.conclude_all(); }

  private:
    Topology topology_;
    Simulation simulation_;
};

}  // namespace ww::sim
