// SPDX-License-Identifier: BSD-3-Clause
//
// Disciplines that manage a queue's delay, before a link that TCP flows fill through a large buffer.
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

struct Managed {
    QueueKind kind;
    std::size_t flows;
    bool ecn;
    double least_s, most_s;  // the mean wait
    double utilisation;
    const char* why;
};

TEST(ManagedQueue, KeepsTheDelayNearItsTarget) {
    const Managed rows[] = {
        {QueueKind::droptail, 1, false, 0.1, 1, 0.95, "the buffer fills"},
        {QueueKind::codel, 1, false, 0, 0.02, 0.8, "RFC 8289, 1; one flow that halves its window"},
        {QueueKind::pie, 5, false, 0.009, 0.021, 0.95, "RFC 8033, 4: QDELAY_REF is 15 ms"},
        {QueueKind::dualpi2, 5, false, 0.010, 0.020, 0.95, "RFC 9332: 15 ms, with drops"},
        {QueueKind::dualpi2, 5, true, 0.010, 0.020, 0.95, "and with marks"},
    };
    for (const Managed& row : rows) {
        SCOPED_TRACE(row.why);
        Network network = managed_link(row.kind, 10'000'000, 20 * kMs, 60 * kSecond,
                                       std::vector<Flow>(row.flows, bulk()));
        for (Flow& flow : network.flows) flow.ecn = row.ecn;
        const DirectionResult forward = result_of(network).forward[0];
        const double mean_wait_s = forward.waited_s / static_cast<double>(forward.packets);
        EXPECT_GT(mean_wait_s, row.least_s);
        EXPECT_LT(mean_wait_s, row.most_s);
        EXPECT_GT(forward.utilisation, row.utilisation);
        if (row.kind == QueueKind::droptail) continue;
        EXPECT_GT(row.ecn ? forward.marked : forward.early_drops, 0u);
        EXPECT_EQ(forward.queue_drops, forward.early_drops);
    }
}

// RFC 9332: a flow of ECT(1) alone takes the L4S queue: its marks begin at minTh, not at the target.
TEST(DualPi2, AFlowOfEct1HasAShortQueue) {
    Network network = managed_link(QueueKind::dualpi2, 50'000'000, 5 * kMs, 60 * kSecond, {bulk()});
    network.flows[0].ecn = network.flows[0].ect1 = true;
    const DirectionResult forward = result_of(network).forward[0];
    EXPECT_LT(forward.waited_s / static_cast<double>(forward.packets), 0.001);
    EXPECT_GT(forward.marked, 100u);
    EXPECT_EQ(forward.early_drops, 0u);
}

}  // namespace
}  // namespace ww::sim::test
