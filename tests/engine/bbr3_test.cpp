// SPDX-License-Identifier: BSD-3-Clause
//
// BBRv3 on a path, seen from outside. tests/core/bbr3_model_test.cpp models its states.
#include "engine/shown.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

// A round trip of 40 ms and a queue of so many BDPs; RACK finds the losses.
Network bbr3_path(std::int64_t rate_bps, double queue_bdps, Time duration = 30 * kSecond) {
    Network network = one_link(rate_bps, 20 * kMs, duration);
    const double bdp = static_cast<double>(rate_bps) * 0.04 / 8 / 1500;
    network.links[0].forward.queue_packets =
        std::max<std::int64_t>(3, static_cast<std::int64_t>(queue_bdps * bdp));
    network.flows = {tcp(WW_PROTOCOL_BBR3)};
    Flow& flow = network.flows[0];
    flow.rack = flow.frto = flow.undo = flow.timestamps = true;
    flow.header_bytes = kStampedHeader;
    flow.receive_window_bytes = 1u << 30;
    return network;
}

double goodput_share(const Network& network, const FlowResult& flow) {
    const double rate = static_cast<double>(network.links[0].forward.rate_bps);
    return static_cast<double>(flow.delivered_bytes) * 8 / seconds(network.duration) / rate;
}

TEST(Bbr3OnAPath, FillsLinksFromAMegabitToAGigabit) {
    for (const std::int64_t rate : {1'000'000, 10'000'000, 100'000'000, 1'000'000'000}) {
        const Network network = bbr3_path(rate, 2, rate > 100'000'000 ? 8 * kSecond : 30 * kSecond);
        const Result result = simulate(network, 1);
        EXPECT_GT(goodput_share(network, result.flows[0]), 0.88) << rate;
    }
}

TEST(Bbr3OnAPath, FillsAPathWithAShortQueueAndLosesLittle) {
    const Network network = bbr3_path(10'000'000, 0.1);
    const FlowResult flow = simulate(network, 1).flows[0];
    EXPECT_GT(goodput_share(network, flow), 0.8);
    EXPECT_LT(static_cast<double>(flow.retransmitted), 0.02 * static_cast<double>(flow.sent));
}

TEST(Bbr3OnAPath, OnePercentOfLossCostsAThirdAtMost) {
    Network network = bbr3_path(20'000'000, 1);
    network.links[0].forward.loss = Uniform{0.01};
    EXPECT_GT(goodput_share(network, simulate(network, 1).flows[0]), 0.64);
}

TEST(Bbr3OnAPath, SharesWithItself) {
    Network network = bbr3_path(50'000'000, 1, 60 * kSecond);
    network.flows.push_back(network.flows[0]);
    network.flows[1].start = kSecond / 3;
    const Result result = simulate(network, 1);
    for (const FlowResult& flow : result.flows) EXPECT_GT(goodput_share(network, flow), 0.35);
}

TEST(Bbr3OnAPath, LeavesMoreToCubicThanBbr1DoesAtAShortQueue) {
    const auto share_of_cubic = [](ww_protocol other) {
        Network network = bbr3_path(50'000'000, 1, 60 * kSecond);
        network.flows.push_back(network.flows[0]);
        network.flows[0].cc = ww_configure(other);
        network.flows[1].cc = ww_configure(WW_PROTOCOL_CUBIC);
        return goodput_share(network, simulate(network, 1).flows[1]);
    };
    EXPECT_GT(share_of_cubic(WW_PROTOCOL_BBR3), 1.5 * share_of_cubic(WW_PROTOCOL_BBR));
}

TEST(Bbr3, ATraceShowsAnUnlimitedVolumeAsUnknown) {
    const ww_config cc = ww_configure(WW_PROTOCOL_BBR3);
    unsigned volumes = 0;
    for (unsigned number = 0; number < WW_QUANTITIES_MAX; number++) {
        if (kQuantities[cc.algorithm][number].unit != WW_VOLUME) continue;
        volumes++;
        EXPECT_EQ(in_users_unit(cc, number, 17), 17);
        EXPECT_TRUE(std::isnan(in_users_unit(cc, number, WW_CWND_MAX)));
    }
    EXPECT_GT(volumes, 0u);
}

}  // namespace
}  // namespace ww::sim::test
