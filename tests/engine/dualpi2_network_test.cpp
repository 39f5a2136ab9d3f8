// SPDX-License-Identifier: BSD-3-Clause
//
// DualPI2 (RFC 9332) before a link that TCP flows fill.
#include <gtest/gtest.h>

#include "engine/network.hpp"
#include "one_link.hpp"
#include "units.hpp"

namespace ww::sim::test::of_dualpi2 {
namespace {

Network path(std::int64_t rate_bps, Time delay, std::size_t flows) {
    return managed_link(QueueKind::dualpi2, rate_bps, delay, 60 * kSecond,
                        std::vector<Flow>(flows, bulk()));
}

// Bulk flows through a large buffer keep the delay near the target, with drops or with marks.
TEST(DualPi2, KeepsTheDelayNearItsTarget) {
    for (const bool ecn : {false, true}) {
        Network network = path(10'000'000, 20 * kMs, 5);
        for (Flow& flow : network.flows) flow.ecn = ecn;
        const Result result = simulate(network, 1);
        ASSERT_EQ(result.error, "");
        const DirectionResult& forward = result.forward[0];
        EXPECT_NEAR(forward.waited_s / static_cast<double>(forward.packets), 0.015, 0.005);
        EXPECT_GT(forward.utilisation, 0.95);
        EXPECT_GT(ecn ? forward.marked : forward.early_drops, 0u);
        EXPECT_EQ(forward.queue_drops, forward.early_drops);
    }
}

// A flow of ECT(1) alone takes the L4S queue: its marks begin at minTh, not at the target.
TEST(DualPi2, AFlowOfEct1HasAShortQueue) {
    Network network = path(50'000'000, 5 * kMs, 1);
    network.flows[0].ecn = network.flows[0].ect1 = true;
    const Result result = simulate(network, 1);
    ASSERT_EQ(result.error, "");
    const DirectionResult& forward = result.forward[0];
    EXPECT_LT(forward.waited_s / static_cast<double>(forward.packets), 0.001);
    EXPECT_GT(forward.marked, 100u);
    EXPECT_EQ(forward.early_drops, 0u);
}

}  // namespace
}  // namespace ww::sim::test::of_dualpi2
