// SPDX-License-Identifier: BSD-3-Clause
//
// BBRv1's phases on a path. tests/core/bbr_model_test.cpp models its state machine.
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// 10 Mb/s and a round trip of 40 ms: a BDP of 33 packets; the queue holds 100.
Network path() {
    Network network = one_link(10'000'000, 20 * kMs, 40 * kSecond, {tcp(WW_PROTOCOL_BBR)});
    network.flows[0].delayed_ack = 1;
    network.trace.windows = true;
    network.trace.queues = true;
    return network;
}

const Result& run() {
    static const Result result = simulate(path(), 1);
    return result;
}

// Returns the smallest and the largest value of a column of the trace in [from, to) seconds.
std::pair<double, double> range(const std::vector<double>& column, double from, double to) {
    const WindowTrace& trace = run().flows[0].trace;
    double least = 1e300, most = -1e300;
    for (std::size_t i = 0; i < column.size(); i++) {
        if (trace.time_s[i] < from || trace.time_s[i] >= to) continue;
        least = std::min(least, column[i]);
        most = std::max(most, column[i]);
    }
    return {least, most};
}

TEST(BbrOnAPath, FillsItWithoutFillingTheQueue) {
    const FlowResult& flow = run().flows[0];
    EXPECT_GT(static_cast<double>(flow.delivered_bytes) * 8 / 40, 0.93e7 * 1460 / 1500);
    EXPECT_EQ(run().forward[0].queue_drops, 0u);
    EXPECT_LT(flow.mean_srtt_s, 0.055) << "40 ms, a quarter of it in probes, and three quanta";
}

TEST(BbrOnAPath, StartupDoublesPerRoundTripAndThenDrains) {  // 4.3.2, 4.3.3
    const auto& trace = run().flows[0].trace;
    EXPECT_GT(range(trace.in_flight, 0, 0.5).second, 66) << "beyond the BDP of 33";
    EXPECT_LE(range(trace.in_flight, 0.6, 1.0).first, 34 + 3 * 2 + 1) << "and drained at once";
}

TEST(BbrOnAPath, ProbesForBandwidthWithAQuarterMoreInFlight) {  // 4.3.4.1
    const auto [least, most] = range(run().flows[0].trace.in_flight, 2, 9);
    EXPECT_NEAR(most, 33.3 * 1.25 + 3 * 2 + 2, 4) << "Linux 6.18 on this path: 52";
    EXPECT_GT(least, 25);
}

TEST(BbrOnAPath, ItsEstimateIsTheLinksRate) {
    const auto [least, most] = range(run().flows[0].trace.estimate_bps, 1, 39);
    EXPECT_NEAR(least, 1e7 * 1460 / 1500, 2e5);
    EXPECT_NEAR(most, 1e7 * 1460 / 1500, 2e5);
}

// Two of them keep a queue, so neither often sees the smallest RTT while it cruises.
TEST(BbrOnAPath, ProbesForTheRoundTripWhenItIsTenSecondsOld) {  // 4.3.5
    Network network = path();
    network.links[0].forward.queue_packets = 200;  // no loss: only probing reduces their cwnd
    network.flows.push_back(network.flows[0]);
    network.flows[1].start = kSecond / 2;
    const Result result = simulate(network, 1);
    for (const FlowResult& flow : result.flows) {
        const WindowTrace& trace = flow.trace;
        std::vector<double> starts, ends;
        for (std::size_t i = 1; i < trace.time_s.size(); i++) {
            if (trace.cwnd[i] <= 4 && trace.cwnd[i - 1] > 4) starts.push_back(trace.time_s[i]);
            if (trace.cwnd[i] > 4 && trace.cwnd[i - 1] <= 4) ends.push_back(trace.time_s[i]);
        }
        ASSERT_GE(starts.size(), 2u);
        ASSERT_EQ(ends.size(), starts.size());
        for (std::size_t i = 0; i < starts.size(); i++) {
            EXPECT_NEAR(ends[i] - starts[i], 0.25, 0.1) << "200 ms, once in flight is down";
            if (i > 0) {
                EXPECT_GT(starts[i] - starts[i - 1], 10.2);
            }
        }
    }
}

TEST(BbrOnAPath, PacesInsteadOfBursting) {
    Network paced = path();
    paced.links[0].forward.rate_bps = 1'000'000'000;  // every packet sent crosses the link
    paced.links[0].forward.queue_packets = kUnlimited;
    paced.flows[0].receive_window_bytes = 40 * 1460;
    const Result result = simulate(paced, 1);
    const DirectionResult& way = result.forward[0];
    EXPECT_LT(static_cast<double>(way.trace.arrival_s.size()),
              0.5 * static_cast<double>(way.packets));
}

}  // namespace
}  // namespace ww::sim::test
