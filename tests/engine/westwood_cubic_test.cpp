// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC on a path. tests/core/westwood_cubic_test.cpp tests it ACK by ACK.
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

TEST(WestwoodCubicOnAPath, AnswersAnEchoOncePerWindow) {  // RFC 3168, 6.1.2
    expect_reduced_once_per_round_trip(marked(WW_PROTOCOL_WESTWOOD_CUBIC), 5);
}

TEST(WestwoodCubicOnAPath, BbrIgnoresTheSameEchoes) {
    const Result result = marked(WW_PROTOCOL_BBR);
    EXPECT_GT(result.forward[0].marked, 0u);
    EXPECT_EQ(result.flows[0].ecn_reductions, 0u);
}

// 20 Mb/s and 80 ms: a BDP of 133 packets.
double goodput_bps(double error_rate, ww_protocol protocol, uint64_t seed = 1) {
    constexpr int64_t kSeconds = 30;
    Network network = one_link(20'000'000, 40 * kMs, kSeconds * kSecond);
    network.links[0].forward.queue_packets = 133;
    network.links[0].forward.loss = Uniform{error_rate};
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

// ---- short queues, with CUBIC and alone: issue 26

struct Path {
    std::int64_t rate_bps;
    Time rtt, queue;
    bool red = false;
    std::int64_t seconds = 60;
};

// Equally many flows of each control share the path, in turn, and start within a second.
Result share(const Path& path, const std::vector<ww_protocol>& controls, int flows_of_each,
             std::uint64_t seed) {
    Network network = one_link(path.rate_bps, path.rtt / 2, path.seconds * kSecond);
    Direction& forward = network.links[0].forward;
    const std::int64_t waiting_bits = path.rate_bps / 1000 * (path.queue / kMs);
    forward.queue_packets = path.red ? 1000 : std::max<std::int64_t>(1, waiting_bits / 12000);
    if (path.red) forward.queue_kind = QueueKind::red;
    forward.red.min_packets = 5;
    forward.red.max_packets = 15;
    network.links[0].backward.queue_packets = 10000;
    for (int i = 0; i < flows_of_each; i++)
        for (const ww_protocol control : controls) {
            const bool is_cubic = control == WW_PROTOCOL_CUBIC;
            Flow flow = tcp(control, is_cubic ? Recovery::prr : Recovery::sack);
            flow.receive_window_bytes = 1u << 26;
            flow.min_rto = flow.clock_granularity = kSecond / 5;
            flow.rack = flow.timestamps = flow.undo = flow.frto = true;
            flow.ssthresh_from_cwnd = flow.recovery_holds_ssthresh = true;
            flow.header_bytes = 52;
            flow.start_spread = kSecond;
            network.flows.push_back(flow);
        }
    return simulate(network, seed);
}

// Returns CUBIC's goodput with this control, relative to its goodput with CUBIC, over six seeds.
double kept_by_cubic(const Path& path, int flows_of_each,
                     ww_protocol beside = WW_PROTOCOL_WESTWOOD_CUBIC) {
    double has = 0, had = 0;
    for (std::uint64_t seed = 1; seed <= 6; seed++) {
        const Result now = share(path, {WW_PROTOCOL_CUBIC, beside}, flows_of_each, seed);
        const Result among_cubic =
            share(path, {WW_PROTOCOL_CUBIC, WW_PROTOCOL_CUBIC}, flows_of_each, seed);
        for (std::size_t i = 0; i < now.flows.size(); i += 2) {
            has += static_cast<double>(now.flows[i].delivered_bytes);
            had += static_cast<double>(among_cubic.flows[i].delivered_bytes);
        }
    }
    return has / had;
}

TEST(WestwoodCubicInAShortQueue, LeavesCubicItsShare) {
    const Path near{100'000'000, 20 * kMs, 1 * kMs}, far{100'000'000, 100 * kMs, 5 * kMs};
    EXPECT_GT(kept_by_cubic(near, 1), 0.6);
    EXPECT_GT(kept_by_cubic(far, 4), 0.6);
}

TEST(WestwoodCubicInAShortQueue, LeavesCubicItsShareOfAQueueWithRed) {
    EXPECT_GT(kept_by_cubic({50'000'000, 80 * kMs, 0, true}, 4), 0.6);
}

// Losses in a round after the first answer went unanswered: 86 % of packets were sent again.
TEST(WestwoodCubicInAShortQueue, DoesNotRunAway) {
    const Path path{100'000'000, 400 * kMs, 1 * kMs, false, 90};
    for (std::uint64_t seed = 1; seed <= 6; seed++) {
        const Result result = share(path, {WW_PROTOCOL_WESTWOOD_CUBIC}, 10, seed);
        double sent = 0, resent = 0;
        for (const FlowResult& flow : result.flows) {
            sent += static_cast<double>(flow.sent);
            resent += static_cast<double>(flow.retransmitted);
        }
        EXPECT_LT(resent / sent, 0.2) << seed;
    }
}

}  // namespace
}  // namespace ww::sim::test
