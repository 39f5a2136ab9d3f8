// SPDX-License-Identifier: BSD-3-Clause
#include "arrivals.hpp"

#include <algorithm>

#include "random.hpp"

namespace ww::sim {

Connections connections_of(const Network& network, std::uint64_t seed) {
    Connections all;
    for (std::uint32_t i = 0; i < network.flows.size(); i++) {
        Flow flow = network.flows[i];
        if (flow.start_spread > 0) {
            Random random(seed, Stream::start, i);
            const double share = random.open_unit();
            flow.start += static_cast<Time>(share * static_cast<double>(flow.start_spread));
        }
        if (flow.arrivals_mean == 0) {
            all.flows.push_back(flow);
            all.source.push_back(i);
            continue;
        }
        Random gaps(seed, Stream::arrivals, i), sizes(seed, Stream::sizes, i);
        const std::int64_t mean_size = flow.size_bytes;
        const Time end = std::min(flow.stop, network.duration);
        flow.arrivals_mean = 0;
        flow.stop = kNever;  // it ends the arrivals; what has begun goes on
        for (Time at = flow.start + exponential(gaps, network.flows[i].arrivals_mean); at < end;
             at += exponential(gaps, network.flows[i].arrivals_mean)) {
            if (all.flows.size() == kMostConnections) {
                all.error = "flow " + std::to_string(i) + ": more than 1048576 connections arrive";
                return all;
            }
            flow.start = at;
            if (flow.size_spread == Spread::exponential)
                flow.size_bytes = exponential(sizes, mean_size);
            all.flows.push_back(flow);
            all.source.push_back(i);
        }
    }
    return all;
}

}  // namespace ww::sim
