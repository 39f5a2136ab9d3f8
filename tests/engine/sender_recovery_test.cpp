// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly: duplicates after a timeout, and what PRR sends.
#include <gtest/gtest.h>

#include "connected.hpp"

namespace ww::sim::test {
namespace {

// RFC 5681, 2 (a): after a timeout all that was sent is still outstanding, so an ACK for nothing new is
// a duplicate.
TEST(Sender, CountsDuplicatesBetweenATimeoutAndItsRetransmission) {
    Sender sender = connected(Flow(), 100 * kMs);
    ASSERT_EQ(sent_by(sender, 100 * kMs).size(), 10u);
    const Time due = sender.timer.deadline;
    ASSERT_EQ(sender.on_timer(due), Due::timeout);
    EXPECT_EQ(sender.on_ack(due, {sender.segments().number(0)}).progress, Progress::dupack);
}

// RFC 9937, 6: below ssthresh an ACK lets as many segments leave as it delivers, or as are owed. It
// lets one more leave if it is safe: it acknowledges new data and reports no further loss.
TEST(Sender, PrrSendsOneMoreOnASafeAckOnly) {
    for (const bool reports_loss : {false, true}) {
        Flow flow = with_sack();
        flow.recovery = Recovery::prr;
        flow.initial_cwnd = 20;
        Sender sender = connected(flow, 100 * kMs);
        const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
        ASSERT_EQ(sent_by(sender, 100 * kMs).size(), 20u);
        const std::int64_t first = reports_loss ? 5 : 17;
        const SackBlocks three{1, {{number(first), number(first + 3)}}};
        sender.on_ack(200 * kMs, {number(0), &three});
        // Above ssthresh, 10, one leaves for two delivered (3 x 10 / 20, rounded up); below it, three.
        ASSERT_EQ(sent_by(sender, 200 * kMs).size(), reports_loss ? 2u : 3u);
        const SackBlocks last{1, {{number(17), number(20)}}};
        sender.on_ack(300 * kMs, {number(1), &last});
        // It delivers 4, and 7 - 2 are owed; or it delivers 1, and 4 - 3 is owed.
        EXPECT_EQ(sent_by(sender, 300 * kMs).size(), reports_loss ? 5u : 1u + 1u);
    }
}

}  // namespace
}  // namespace ww::sim::test
