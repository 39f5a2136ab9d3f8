// SPDX-License-Identifier: BSD-3-Clause
//
// Flows that stand for many connections are expanded, before the run begins, into those that arrive in
// it. Arrivals are a Poisson process (exponential gaps of mean arrivals_mean from start on); sizes are fixed
// or exponential and at least a byte.
#pragma once

#include "network.hpp"

namespace ww::sim {

inline constexpr std::size_t kMostConnections = 1u << 20;

// There may be a million: little is kept of each, one entry in every array.
struct Connections {
    std::vector<std::uint32_t> source;  // the flow of the network that each belongs to
    std::vector<Time> start;
    std::vector<std::int64_t> size_bytes;
    std::vector<std::uint32_t> arriving;  // which of them arrive, by their start
    std::string error;                    // not empty: there are too many

    // The flow that is this connection alone.
    Flow flow(const Network& network, std::uint32_t connection) const;
};

Connections connections_of(const Network& network, std::uint64_t seed);

}  // namespace ww::sim
