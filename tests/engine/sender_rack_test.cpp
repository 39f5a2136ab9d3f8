// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly: what RACK (RFC 8985) learns from an ACK. rack_test.cpp tests RACK alone.
#include "connected.hpp"

namespace ww::sim::test {
namespace {

// A sender that has sent segments 0 to 9 at 100 ms. The ACK of the first two came at 200 ms.
Connected after_two(const Flow& flow) {
    Connected sender(flow);
    EXPECT_EQ(sender.sends(100).size(), 10u);
    sender.ack(200, 2);
    return sender;
}

Flow with_rack(bool timestamps) {
    Flow flow = with_sack();
    flow.rack = true;
    flow.timestamps = timestamps;
    if (timestamps) flow.header_bytes = kStampedHeader;
    return flow;
}

// RFC 8985, 6.2, step 2: if the timestamp shows that the ACK answers the first copy, then the
// retransmission has not arrived, and what was sent before it is not overdue.
TEST(SenderWithRack, AnAckOfALateOriginalFindsNoLosses) {
    for (const bool is_late : {false, true}) {
        Connected host = after_two(with_rack(true));
        host.ack(201, 2, {.sacked = {{3, 4}, {5, 8}}});
        ASSERT_EQ(host.sends(201), (Segments{2, 4}));
        host.ack(350, 4, {.sacked = {{5, 8}}, .again = !is_late});
        EXPECT_EQ(host.next(350), is_late ? 10 : 8) << is_late;
    }
}

// RFC 8985, 7.4.2: after a duplicate ACK without SACK both the probe and its segment arrived; after
// an ACK of later data without it the probe repaired a loss.
TEST(SenderWithRack, ADuplicateAfterAProbeTellsThatNothingWasLost) {
    for (const bool is_duplicate : {false, true}) {
        Flow flow = with_rack(false);
        flow.receive_window_bytes = flow.mss();  // so the probe is a retransmission
        Connected sender(flow);
        ASSERT_EQ(sender.sends(100), (Segments{0}));
        const Time due = sender.deadline();
        ASSERT_EQ(sender.on_timer(due), Due::probe);
        ASSERT_EQ(sender.sends_at(due), (Segments{0}));
        sender.ack(700, 1);
        ASSERT_EQ(sender.sends(700), (Segments{1}));
        if (is_duplicate) sender.ack(701, 1);
        const std::uint32_t before = sender.window().ssthresh;
        sender.ack(800, 2);
        EXPECT_EQ(sender.window().ssthresh < before, !is_duplicate);
    }
}

// RFC 8985, 6.2, step 3: an ACK of segment 2 that also SACKs segment 4 shows a loss, not reordering.
// So with DupThresh segments SACKed, segment 3 is lost at once (step 4).
TEST(SenderWithRack, AnAckThatAlsoSacksShowsNoReordering) {
    Connected host = after_two(with_rack(false));
    host.ack(202, 3, {.sacked = {{4, 5}}});
    host.sends(202);
    host.ack(206, 3, {.sacked = {{4, 8}}});
    EXPECT_EQ(host.next(206), 3);
}

// RFC 8985, 6.2, step 2: only a segment that has arrived becomes RACK.segment.
TEST(SenderWithRack, AnAckSaysNothingOfTheFirstSegmentBeyondIt) {
    Connected host = after_two(with_rack(false));
    host.ack(201, 2, {.sacked = {{3, 6}}});
    ASSERT_EQ(host.sends(201), (Segments{2}));
    host.ack(203, 2, {.sacked = {{3, 8}}});
    ASSERT_EQ(host.sends(203), (Segments{10}));
    host.ack(205, 2, {.sacked = {{9, 10}, {3, 8}}});
    ASSERT_EQ(host.sends(205), (Segments{8, 11}));
    // If 8 had arrived, 10 would be overdue: it was sent before 8, and longer ago than a round trip.
    host.ack(310, 8, {.sacked = {{9, 10}}});
    EXPECT_EQ(host.next(310), 12);
}

// RFC 8985, 6.2, step 2, with the handshake's sample in RACK.min_RTT: ACKs of data take 110 ms, since
// they wait for a second segment. Segment 4's retransmission arrives after 105 ms, sooner, but later
// than the handshake's 100 ms. So it shows that segment 2's retransmission, sent before it, is lost.
TEST(SenderWithRack, ARetransmissionMayBeQuickerThanAllDelayedAcks) {
    Connected sender(with_rack(false));
    ASSERT_EQ(sender.sends(100).size(), 10u);
    sender.ack(210, 2);
    sender.sends(210);
    sender.ack(211, 2, {.sacked = {{3, 4}, {5, 10}}});
    ASSERT_EQ(sender.next(211), 2);
    ASSERT_EQ(sender.next(212), 4);
    sender.ack(317, 2, {.sacked = {{3, 10}}});
    EXPECT_EQ(sender.next(317), 2);
}

// Linux, tcp_try_undo_partial(): a hole that a late original fills shows reordering. From then on a
// quarter of the smallest RTT must pass before a loss (RFC 8985, 6.2, step 4).
TEST(SenderWithRack, LearnsOfReorderingFromASpuriousRecovery) {
    for (const bool is_spurious : {false, true}) {
        Flow flow = with_rack(true);
        flow.undo = true;
        Connected host = after_two(flow);
        host.ack(201, 2, {.sacked = {{3, 6}}});
        ASSERT_EQ(host.sends(201), (Segments{2}));
        host.ack(302, 6, {.again = !is_spurious});
        host.ack(303, 6, {.sacked = {{7, 10}}});
        EXPECT_EQ(host.deadline() == (303 + 25) * kMs, is_spurious);
        EXPECT_EQ(host.next(303), is_spurious ? 10 : 6);
    }
}

// RFC 8985, 6.3: the reordering timer ends when nothing waits for it, and the RTO takes its place.
TEST(SenderWithRack, TheRtoTakesThePlaceOfAReorderingTimerThatIsNotNeeded) {
    Flow flow = with_rack(true);
    flow.undo = true;
    Connected host = after_two(flow);
    host.ack(201, 2, {.sacked = {{3, 6}}});
    ASSERT_EQ(host.sends(201), (Segments{2}));
    host.ack(302, 6);  // the late original: there is reordering
    ASSERT_EQ(host.sends(302).front(), 10);
    host.ack(403, 6, {.sacked = {{7, 11}, {12, 13}}});
    const Time waits = host.deadline();
    EXPECT_LT(waits, 500 * kMs) << "for 11";
    host.ack(404, 6, {.sacked = {{7, 13}}});
    EXPECT_GT(host.deadline(), 500 * kMs);
}

}  // namespace
}  // namespace ww::sim::test
