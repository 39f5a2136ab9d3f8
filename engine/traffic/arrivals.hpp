// SPDX-License-Identifier: BSD-3-Clause
//
// Before the run begins, a flow that stands for many connections is expanded into them. They arrive
// as a Poisson process: gaps are exponential with mean arrivals_mean, from `start` on. Sizes are
// fixed or exponential, and at least one byte.
#pragma once

#include "../network.hpp"

namespace ww::sim {

inline constexpr std::size_t kMostConnections = 1u << 20;

// There may be a million connections, so each has just one entry in every array.
struct Connections {
    std::vector<std::uint32_t> source;  // index of the network's flow
    std::vector<Time> start;
    std::vector<std::int64_t> size_bytes;
    std::vector<std::uint32_t> arriving;  // connections of flows with arrivals, by start time
    std::string error;                    // not empty if there are too many

    // Returns a flow that is just this connection.
    Flow flow(const Network& network, std::uint32_t connection) const;
};

Connections connections_of(const Network& network, std::uint64_t seed);

}  // namespace ww::sim
