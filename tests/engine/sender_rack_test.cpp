// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly: what RACK (RFC 8985) learns from an ACK. rack_test.cpp tests RACK alone.
#include <gtest/gtest.h>

#include "connected.hpp"

namespace ww::sim::test {
namespace {

using Segments = std::vector<std::int64_t>;
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// A sender that has sent segments 0 to 9 at 100 ms. The ACK of the first two came at 200 ms.
class RackHost {
  public:
    explicit RackHost(Flow flow) : sender_(connected(flow, 100 * kMs)) {
        EXPECT_EQ(sent(100).size(), 10u);
        acks(200, 2);
    }

    // An ACK arrives; `again`: its timestamp echoes a retransmission.
    void acks(int at_ms, std::int64_t una, const Ranges& sacked = {}, bool again = false) {
        SackBlocks blocks;
        for (const auto& [start, end] : sacked)
            blocks.block[blocks.count++] = {number(start), number(end)};
        sender_.on_ack(at_ms * kMs, {number(una), sacked.empty() ? nullptr : &blocks, again});
    }
    Segments sent(int at_ms) { return sent_by(sender_, at_ms * kMs); }
    std::int64_t next(int at_ms) { return sender_.next_segment(at_ms * kMs); }
    Time timer() const { return sender_.timer.deadline; }

  private:
    std::uint32_t number(std::int64_t segment) const { return sender_.segments().number(segment); }

    Sender sender_;
};

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
        RackHost host(with_rack(true));
        host.acks(201, 2, {{3, 4}, {5, 8}});
        ASSERT_EQ(host.sent(201), (Segments{2, 4}));
        host.acks(350, 4, {{5, 8}}, !is_late);
        EXPECT_EQ(host.next(350), is_late ? 10 : 8) << is_late;
    }
}

// RFC 8985, 7.4.2: a duplicate ACK without SACK says that the probe arrived as well as the segment
// that it repeats, so nothing was lost. An ACK of later data without it says that the probe repaired
// a loss.
TEST(SenderWithRack, ADuplicateAfterAProbeTellsThatNothingWasLost) {
    for (const bool is_duplicate : {false, true}) {
        Flow flow = with_rack(false);
        flow.receive_window_bytes = flow.mss();  // so the probe is a retransmission
        Sender sender = connected(flow, 100 * kMs);
        const auto acks = [&](int at_ms, std::int64_t segment) {
            sender.on_ack(at_ms * kMs, {sender.segments().number(segment)});
        };
        ASSERT_EQ(sent_by(sender, 100 * kMs), (Segments{0}));
        const Time due = sender.timer.deadline;
        ASSERT_EQ(sender.on_timer(due), Due::probe);
        ASSERT_EQ(sent_by(sender, due), (Segments{0}));
        acks(700, 1);
        ASSERT_EQ(sent_by(sender, 700 * kMs), (Segments{1}));
        if (is_duplicate) acks(701, 1);
        const std::uint32_t before = sender.window().ssthresh;
        acks(800, 2);
        EXPECT_EQ(sender.window().ssthresh < before, !is_duplicate);
    }
}

// RFC 8985, 6.2, step 3: an ACK of segment 2 that also SACKs segment 4 shows a loss, not reordering.
// So with DupThresh segments SACKed, segment 3 is lost at once (step 4).
TEST(SenderWithRack, AnAckThatAlsoSacksShowsNoReordering) {
    RackHost host(with_rack(false));
    host.acks(202, 3, {{4, 5}});
    host.sent(202);
    host.acks(206, 3, {{4, 8}});
    EXPECT_EQ(host.next(206), 3);
}

// RFC 8985, 6.2, step 2: only a segment that has arrived becomes RACK.segment.
TEST(SenderWithRack, AnAckSaysNothingOfTheFirstSegmentBeyondIt) {
    RackHost host(with_rack(false));
    host.acks(201, 2, {{3, 6}});
    ASSERT_EQ(host.sent(201), (Segments{2}));
    host.acks(203, 2, {{3, 8}});
    ASSERT_EQ(host.sent(203), (Segments{10}));
    host.acks(205, 2, {{9, 10}, {3, 8}});
    ASSERT_EQ(host.sent(205), (Segments{8, 11}));
    // If 8 had arrived, 10 would be overdue: it was sent before 8, and longer ago than a round trip.
    host.acks(310, 8, {{9, 10}});
    EXPECT_EQ(host.next(310), 12);
}

// RFC 8985, 6.2, step 2, with the handshake's sample in RACK.min_RTT: ACKs of data take 110 ms, since
// they wait for a second segment. Segment 4's retransmission arrives after 105 ms, sooner, but later
// than the handshake's 100 ms. So it shows that segment 2's retransmission, sent before it, is lost.
TEST(SenderWithRack, ARetransmissionMayBeQuickerThanAllDelayedAcks) {
    Flow flow = with_rack(false);
    Sender sender = connected(flow, 100 * kMs);
    const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
    ASSERT_EQ(sent_by(sender, 100 * kMs).size(), 10u);
    sender.on_ack(210 * kMs, {number(2)});
    sent_by(sender, 210 * kMs);
    const SackBlocks first{2, {{number(3), number(4)}, {number(5), number(10)}}};
    sender.on_ack(211 * kMs, {number(2), &first});
    ASSERT_EQ(sender.next_segment(211 * kMs), 2);
    ASSERT_EQ(sender.next_segment(212 * kMs), 4);
    const SackBlocks then{1, {{number(3), number(10)}}};
    sender.on_ack(317 * kMs, {number(2), &then});
    EXPECT_EQ(sender.next_segment(317 * kMs), 2);
}

// Linux, tcp_try_undo_partial(): a hole that a late original fills shows reordering. From then on a
// quarter of the smallest RTT must pass before a loss (RFC 8985, 6.2, step 4).
TEST(SenderWithRack, LearnsOfReorderingFromASpuriousRecovery) {
    for (const bool is_spurious : {false, true}) {
        Flow flow = with_rack(true);
        flow.undo = true;
        RackHost host(flow);
        host.acks(201, 2, {{3, 6}});
        ASSERT_EQ(host.sent(201), (Segments{2}));
        host.acks(302, 6, {}, !is_spurious);
        host.acks(303, 6, {{7, 10}});
        EXPECT_EQ(host.timer() == (303 + 25) * kMs, is_spurious);
        EXPECT_EQ(host.next(303), is_spurious ? 10 : 6);
    }
}

// RFC 8985, 6.3: the reordering timer ends when nothing waits for it, and the RTO takes its place.
TEST(SenderWithRack, TheRtoTakesThePlaceOfAReorderingTimerThatIsNotNeeded) {
    Flow flow = with_rack(true);
    flow.undo = true;
    RackHost host(flow);
    host.acks(201, 2, {{3, 6}});
    ASSERT_EQ(host.sent(201), (Segments{2}));
    host.acks(302, 6);  // the late original: there is reordering
    ASSERT_EQ(host.sent(302).front(), 10);
    host.acks(403, 6, {{7, 11}, {12, 13}});
    const Time waits = host.timer();
    EXPECT_LT(waits, 500 * kMs) << "for 11";
    host.acks(404, 6, {{7, 13}});
    EXPECT_GT(host.timer(), 500 * kMs);
}

}  // namespace
}  // namespace ww::sim::test
