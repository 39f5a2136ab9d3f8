// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC runs on a path here. tests/core/westwood_cubic_test.cpp tests it ACK by ACK.
#include <gtest/gtest.h>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// RED marks the flow's packets and drops none.
Result marked(ww_protocol protocol) {
    Network network = one_link(10'000'000, 20 * kMs, 30 * kSecond);
    Red& red = network.links[0].forward.red;
    red.on = red.ecn = true;
    red.min_packets = 5;
    red.max_packets = 60;
    network.flows = {tcp(protocol)};
    network.flows[0].ecn = true;
    network.flows[0].initial_ssthresh = 40;
    network.trace.events = true;
    return simulate(network, 1);
}

TEST(WestwoodCubicOnAPath, AnswersAnEchoOnceAWindow) {  // RFC 3168, 6.1.2
    const Result result = marked(WW_PROTOCOL_WESTWOOD_CUBIC);
    const FlowResult& flow = result.flows[0];
    EXPECT_EQ(flow.retransmitted, 0u);
    EXPECT_GT(flow.ecn_reductions, 5u);
    EXPECT_LE(flow.ecn_reductions, result.forward[0].marked);
    double last = -1;
    for (const Event& event : flow.events) {
        if (event.kind != EventKind::ecn) continue;
        EXPECT_GT(event.time_s - last, 0.04) << "a round trip apart";
        EXPECT_EQ(event.cwnd, event.ssthresh);
        last = event.time_s;
    }
}

TEST(WestwoodCubicOnAPath, BbrIgnoresTheSameEchoes) {
    const Result result = marked(WW_PROTOCOL_BBR);
    EXPECT_GT(result.forward[0].marked, 0u);
    EXPECT_EQ(result.flows[0].ecn_reductions, 0u);
}

// 20 Mb/s and 80 ms make a pipe of 133 packets.
double goodput_bps(double error_rate, ww_protocol protocol, uint64_t seed = 1) {
    constexpr int64_t kSeconds = 30;
    Network network = one_link(20'000'000, 40 * kMs, kSeconds * kSecond);
    network.links[0].forward.queue_packets = 133;
    network.links[0].forward.loss.kind = LossKind::uniform;
    network.links[0].forward.loss.rate = error_rate;
    network.flows = {tcp(protocol)};
    const FlowResult flow = simulate(network, seed).flows[0];
    return static_cast<double>(flow.delivered_bytes) * 8 / kSeconds;
}

double mean_goodput_bps(double error_rate, ww_protocol protocol) {
    constexpr uint64_t kSeeds = 8;
    double sum = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) sum += goodput_bps(error_rate, protocol, seed);
    return sum / kSeeds;
}

TEST(WestwoodCubicOnAPath, FillsAPathThatLosesPacketsAtRandom) {
    const double mine = mean_goodput_bps(0.005, WW_PROTOCOL_WESTWOOD_CUBIC);
    RecordProperty("mine", std::to_string(mine));
    EXPECT_GT(mine, 0.85 * 20e6);
    EXPECT_GT(mine, 3 * mean_goodput_bps(0.005, WW_PROTOCOL_CUBIC));
}

TEST(WestwoodCubicOnAPath, FillsACleanPath) {
    EXPECT_GT(goodput_bps(0, WW_PROTOCOL_WESTWOOD_CUBIC), 0.9 * 20e6);
}

}  // namespace
}  // namespace ww::sim::test
