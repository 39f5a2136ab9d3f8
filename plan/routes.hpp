// SPDX-License-Identifier: BSD-3-Clause
//
// What follows from a whole network: the flows' routes, and the queue limits that depend on them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../engine/network.hpp"
#include "../engine/sim/routes.hpp"
#include "quantities.hpp"

namespace ww::plan {

using sim::Ends;
using sim::Route;

// Returns the route between each pair of nodes, as the simulator chooses it. In a very large network, where the search would be slow, the first link at either end stands
// for the route. Nodes that no links connect have an empty route.
std::vector<Route> routes(const std::vector<Ends>& links, const std::vector<Ends>& pairs);

// Returns the mean rate of a trace: its number of delivery opportunities, and the time of the last.
double mean_rate_bps(std::size_t opportunities, std::uint64_t last_ms);

// Returns a direction's rate, or the mean rate of its trace.
double mean_rate_bps(const sim::Direction& direction);

// A link whose queue's limit is in bandwidth-delay products or a time.
struct RelativeLimit {
    std::size_t link;
    Limit limit;
};

// Sets these limits, in packets of the largest size of any flow with the link's framing. A bandwidth-delay
// product is the link's rate times the longest round-trip propagation delay of the flows that cross it, or its
// own if none does. A limit is rounded, and at least 1 packet.
void set_limits(sim::Network& network, const std::vector<RelativeLimit>& limits);

// Raises the receive windows of these flows to what suffices for their routes: twice the bandwidth-delay product
// and the queues, since a repair may hold up a round trip of data. It is a power of two; the declared default
// is the smallest. An unlimited queue counts as none.
void set_receive_windows(sim::Network& network, const std::vector<std::size_t>& flows);

}  // namespace ww::plan
