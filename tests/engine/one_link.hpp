// SPDX-License-Identifier: BSD-3-Clause
//
// Networks of one link or a few, for tests of what a link or a flow does in a whole run. Nearly every test of the
// engine includes this file, so it includes what nearly every test uses.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/base/seconds.hpp"
#include "engine/network.hpp"

namespace ww::sim::test {

inline constexpr Time kMs = kSecond / 1000;

using Segments = std::vector<std::int64_t>;

// Both queues hold 100 packets.
inline Network one_link(std::int64_t rate_bps, Time delay, Time duration,
                        std::vector<Flow> flows = {}) {
    Network network;
    network.nodes = 2;
    Link link;
    link.b = 1;
    link.forward.rate_bps = link.backward.rate_bps = rate_bps;
    link.forward.delay = link.backward.delay = delay;
    link.forward.queue_packets = link.backward.queue_packets = 100;
    network.links.push_back(link);
    network.duration = duration;
    network.flows = std::move(flows);
    return network;
}

// One link whose forward queue is of `kind`; 1000 packets leave its delay to the discipline.
inline Network managed_link(QueueKind kind, std::int64_t rate_bps, Time delay, Time duration,
                            std::vector<Flow> flows = {}, std::int64_t packets = 1000) {
    Network network = one_link(rate_bps, delay, duration, std::move(flows));
    network.links[0].forward.queue_kind = kind;
    network.links[0].forward.queue_packets = packets;
    return network;
}

// Runs a network that is valid.
inline Result result_of(const Network& network, std::uint64_t seed = 1) {
    Result result = simulate(network, seed);
    EXPECT_EQ(result.error, "");
    return result;
}

// Lists when these events were.
inline std::vector<double> times_s(const FlowResult& flow, EventKind kind) {
    std::vector<double> times_s;
    for (const Event& event : flow.events)
        if (event.kind == kind) times_s.push_back(event.time_s);
    return times_s;
}

// A flow with the defaults, from the link's one end to the other.
inline Flow bulk() {
    Flow flow;
    flow.to = 1;
    return flow;
}

inline Flow tcp(ww_protocol protocol, Recovery recovery = Recovery::sack) {
    Flow flow;
    flow.to = 1;
    flow.cc = ww_configure(protocol);
    flow.cc.byte_counting = false;
    flow.recovery = recovery;
    return flow;
}

inline Flow datagrams(std::int64_t rate_bps) {
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.datagrams.on = true;
    flow.datagrams.rate_bps = rate_bps;
    return flow;
}

// The path of Table 1 of the 2013 ns-3 paper: 10 Mb/s and 45 ms to a router for each source, then 2 Mb/s a source and
// 0.01 ms to the sink, node 0; packets of 400 bytes.
inline Network table_1(Recovery recovery, std::uint32_t flows, double loss, Time duration) {
    Network network;
    network.nodes = 2 + flows;
    Direction bottleneck, access;
    bottleneck.rate_bps = 2'000'000 * static_cast<std::int64_t>(flows);
    bottleneck.delay = 10 * kMicrosecond;
    bottleneck.queue_packets = 100;
    access.rate_bps = 10'000'000;
    access.delay = 45 * kMs;
    network.links = {{1, 0, 0, bottleneck, bottleneck}};
    network.links[0].forward.loss = Uniform{loss};
    Flow flow = tcp(WW_PROTOCOL_WESTWOOD_PLUS, recovery);
    flow.to = 0;
    flow.packet_bytes = 360 + 40;
    flow.receive_window_bytes = 65535;
    for (flow.from = 2; flow.from < network.nodes; flow.from++) {
        network.links.push_back({flow.from, 1, 0, access, access});
        network.flows.push_back(flow);
    }
    network.duration = duration;
    return network;
}

// One flow over a link whose RED marks ECN-capable packets from 5 packets on.
inline Network marking(Network network, std::uint32_t max_packets, const Flow& flow) {
    network.links[0].forward.queue_kind = QueueKind::red;
    Red& red = network.links[0].forward.red;
    red.ecn = true;
    red.min_packets = 5;
    red.max_packets = max_packets;
    network.flows = {flow};
    return network;
}

// RFC 3168, 6.1.2: marks reduce the window to ssthresh, once per round trip of at least 40 ms.
// Needs the events.
inline void expect_reduced_once_per_round_trip(const Result& result, std::uint64_t more_than) {
    const FlowResult& flow = result.flows[0];
    EXPECT_EQ(flow.retransmitted, 0u);
    EXPECT_GT(flow.ecn_reductions, more_than);
    EXPECT_LE(flow.ecn_reductions, result.forward[0].marked);
    double last = -1;
    for (const Event& event : flow.events) {
        if (event.kind != EventKind::ecn) continue;
        EXPECT_GT(event.time_s - last, 0.04) << "a round trip apart";
        EXPECT_EQ(std::max(event.cwnd, 2u), event.ssthresh) << "cwnd may fall to one segment";
        last = event.time_s;
    }
}

}  // namespace ww::sim::test
