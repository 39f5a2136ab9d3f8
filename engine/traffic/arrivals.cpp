// SPDX-License-Identifier: BSD-3-Clause
#include "arrivals.hpp"

#include <algorithm>

#include "../base/random.hpp"

namespace ww::sim {

Flow Connections::flow(const Network& network, std::uint32_t connection) const {
    Flow flow = network.flows[source[connection]];
    flow.start = start[connection];
    flow.size_bytes = size_bytes[connection];
    if (flow.arrivals_mean != 0) {
        flow.arrivals_mean = 0;
        flow.stop = kNever;  // stop ends the arrivals; a connection that has started goes on
    }
    return flow;
}

Connections connections_of(const Network& network, std::uint64_t seed) {
    Connections all;
    const auto add = [&](std::uint32_t flow, Time start, std::int64_t size) {
        all.source.push_back(flow);
        all.start.push_back(start);
        all.size_bytes.push_back(size);
    };
    for (std::uint32_t i = 0; i < network.flows.size(); i++) {
        const Flow& flow = network.flows[i];
        Time start = flow.start;
        if (flow.start_spread > 0) {
            Random random(seed, Stream::start, i);
            const double share = random.open_unit();
            start += static_cast<Time>(share * static_cast<double>(flow.start_spread));
        }
        if (flow.arrivals_mean == 0) {
            add(i, start, flow.size_bytes);
            continue;
        }
        Random gaps(seed, Stream::arrivals, i), sizes(seed, Stream::sizes, i);
        const Time end = std::min(flow.stop, network.duration);
        for (Time time = start + exponential(gaps, flow.arrivals_mean); time < end;
             time += exponential(gaps, flow.arrivals_mean)) {
            if (all.source.size() == kMostConnections) {
                all.error = "flow " + std::to_string(i) + ": more than 1048576 connections arrive";
                return all;
            }
            all.arriving.push_back(static_cast<std::uint32_t>(all.source.size()));
            add(i, time,
                flow.size_spread == Spread::exponential ? exponential(sizes, flow.size_bytes)
                                                        : flow.size_bytes);
        }
    }
    std::stable_sort(all.arriving.begin(), all.arriving.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all.start[a] < all.start[b]; });
    return all;
}

}  // namespace ww::sim
