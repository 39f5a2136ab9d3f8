// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a control that is a table of functions (core/loaded.h), as one compiled during the run.
#include <set>

#include "../fuzz/difference.hpp"
#include "core/westwood.h"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

ww_common& common_of(void* state) { return *static_cast<ww_common*>(state); }

void reno_on_ack(const ww_config* config, void* state, ww_window* window, const ww_sample* ack) {
    ww_reno_on_ack(config, &common_of(state), window, ack);
}

void reno_on_loss(const ww_config* config, void* state, ww_window* window, std::uint64_t,
                  std::uint32_t in_flight, std::uint32_t) {
    ww_reno_on_loss(&common_of(state), window, ww_reno_ssthresh(config, in_flight));
}

void closed_on_loss(const ww_config*, void*, ww_window* window, std::uint64_t, std::uint32_t,
                    std::uint32_t) {
    window->cwnd = 0;
}

// Only what a control must have; the rest is the host's.
ww_control_ops reno_table() {
    ww_control_ops ops = {};
    ops.version = WW_CONTROL_VERSION;
    ops.state_bytes = sizeof(ww_common);
    ops.on_ack = reno_on_ack;
    ops.on_loss = reno_on_loss;
    return ops;
}

// A lossy path with spurious timeouts and marks, so that all operations run.
Network eventful(const ww_control_ops* control) {
    Network network = one_link(5'000'000, 20 * kMs, 60 * kSecond);
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.ecn = flow.rack = flow.frto = flow.undo = flow.timestamps = true;
    flow.header_bytes = kStampedHeader;
    if (control != nullptr) {
        flow.cc.algorithm = WW_ALG_LOADED;
        flow.cc.control = control;
    }
    network = marking(network, 30, flow);
    network.links[0].forward.loss = Uniform{0.002};
    network.links[0].backward.loss = Uniform{0.3};
    network.trace.events = true;
    return network;
}

TEST(Loaded, ATableOfRenosFunctionsSendsWhatRenoSends) {
    const ww_control_ops ops = reno_table();
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        const FlowResult reno = simulate(eventful(nullptr), seed).flows[0];
        const FlowResult loaded = simulate(eventful(&ops), seed).flows[0];
        EXPECT_GT(reno.timeouts, 0u);
        EXPECT_GT(reno.ecn_reductions, 0u);
        EXPECT_GT(reno.fast_recoveries, 0u);
        EXPECT_TRUE(fuzz::same(loaded.events, reno.events)) << "seed " << seed;
    }
}

TEST(Loaded, AWindowOutOfRangeIsReportedAndBroughtWithin) {
    static std::string refused;
    ww_control_ops ops = reno_table();
    ops.on_loss = closed_on_loss;
    ops.refuse = [](const ww_control_ops*, const char* call, const ww_window* window) {
        refused = std::string(call) + " " + std::to_string(window->cwnd);
    };
    Network network = eventful(&ops);
    network.flows[0].ecn = false;
    const Result result = simulate(network, 1);
    EXPECT_EQ(refused, "on_loss 0");
    for (const Event& event : result.flows[0].events) EXPECT_GE(event.cwnd, 1u);
}

// Also of those whose ACKs are lost: each ACK has the count since the start.
TEST(Loaded, HearsOfEachMarkedSegment) {
    static std::uint64_t marked;
    marked = 0;
    ww_control_ops ops = reno_table();
    ops.on_ack = [](const ww_config* config, void* state, ww_window* window, const ww_sample* ack) {
        marked += ack->newly_marked;
        reno_on_ack(config, state, window, ack);
    };
    Network network = eventful(&ops);
    network.links[0].forward.loss = Uniform{0};
    const Result result = simulate(network, 1);
    EXPECT_GT(result.forward[0].marked, 30u);
    EXPECT_LE(marked, result.forward[0].marked);
    EXPECT_GE(marked + 5, result.forward[0].marked) << "marked just before the end";
}

// Each lost segment comes with what was delivered and in flight when it was sent.
TEST(Loaded, HearsOfEachLostSegmentWithItsFlight) {
    static std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
    static std::uint64_t lost, known;
    sent.clear();
    lost = known = 0;
    ww_control_ops ops = reno_table();
    ops.traits = WW_NEEDS_RATE | WW_FOLLOWS_PACKETS;
    ops.on_packet_sent = [](const ww_config*, void*, ww_window* window, const ww_sent* segment) {
        window->pacing = WW_BW_MAX;
        sent.insert({segment->delivered, segment->pipe + 1});
    };
    ops.on_packet_lost = [](const ww_config*, void*, ww_window*, const ww_lost* segment) {
        lost++;
        known += sent.count({segment->prior_delivered, segment->prior_pipe});
        EXPECT_GE(segment->lost_since, 1u) << "itself included";
    };
    Network network = eventful(&ops);
    network.links[0].forward.loss = Uniform{0.002};
    network.links[0].backward.loss = Uniform{0};
    network.flows[0].ecn = false;
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_EQ(flow.timeouts, 0u);
    EXPECT_GT(lost, 50u);
    EXPECT_EQ(known, lost);
    EXPECT_GE(flow.retransmitted, lost) << "a probe repeats a segment that is not lost";
}

TEST(Loaded, ATraceShowsItsQuantities) {
    ww_control_ops ops = reno_table();
    ops.quantity_count = 1;
    ops.observe = [](const ww_config*, const void*, std::uint64_t, std::uint64_t* seen) {
        *seen = 7;
    };
    Network network = eventful(&ops);
    network.trace.windows = true;
    const FlowResult flow = simulate(network, 1).flows[0];
    ASSERT_GT(flow.shown.quantity_1.size(), 10u);
    EXPECT_EQ(flow.shown.quantity_1.size(), flow.trace.cwnd.size());
    for (const double seven : flow.shown.quantity_1) EXPECT_EQ(seven, 7);
    for (const double none : flow.shown.quantity_2) EXPECT_TRUE(std::isnan(none));
    for (const int mode : flow.shown.mode) EXPECT_EQ(mode, 0);
}

TEST(Loaded, WithoutATableTheNetworkIsInvalid) {
    Network network = eventful(nullptr);
    network.flows[0].cc.algorithm = WW_ALG_LOADED;
    EXPECT_NE(simulate(network, 1).error, "");
}

}  // namespace
}  // namespace ww::sim::test
