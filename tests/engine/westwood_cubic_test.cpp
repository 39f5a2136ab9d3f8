// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC runs on a path here. tests/core/westwood_cubic_test.cpp tests it ACK by ACK.
#include <gtest/gtest.h>

#include "one_link.hpp"

namespace ww::sim::test {
namespace {

Result marked(ww_protocol protocol) {
    Flow flow = tcp(protocol);
    flow.ecn = true;
    flow.initial_ssthresh = 40;
    Network network = marking(one_link(10'000'000, 20 * kMs, 30 * kSecond), 60, flow);
    network.trace.events = true;
    return simulate(network, 1);
}

TEST(WestwoodCubicOnAPath, AnswersAnEchoOnceAWindow) {  // RFC 3168, 6.1.2
    expect_reduced_once_a_round_trip(marked(WW_PROTOCOL_WESTWOOD_CUBIC), 5);
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
