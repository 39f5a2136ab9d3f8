// SPDX-License-Identifier: BSD-3-Clause
//
// What follows from a whole network: the flows' routes, and the queue limits that depend on them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../engine/network.hpp"
#include "quantities.hpp"

namespace ww::plan {

// A link's channels: 2 i is link i's forward direction, 2 i + 1 its backward one.
using Route = std::vector<std::uint32_t>;
using Ends = std::pair<std::uint32_t, std::uint32_t>;  // two nodes

// Returns the channels between each pair of nodes, as the simulator chooses them: the first route with the
// fewest links. In a very large network, where the search would be slow, the first link at either end stands
// for the route. Nodes that no links connect have an empty route.
std::vector<Route> routes(const std::vector<Ends>& links, const std::vector<Ends>& pairs);

// Returns a direction's rate, or the mean rate of its delivery opportunities.
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

}  // namespace ww::plan
