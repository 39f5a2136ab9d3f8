// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly: what it does on congestion marks.
#include <gtest/gtest.h>

#include "connected.hpp"

namespace ww::sim::test {
namespace {

// RFC 3168, 6.1.2: an echo on a duplicate ACK counts, too.
TEST(Sender, AnswersAnEchoOnADuplicate) {
    Flow flow;
    flow.ecn = true;
    Sender sender = connected(flow, 100 * kMs);
    const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
    while (sender.next_segment(100 * kMs) >= 0) continue;
    sender.on_ack(200 * kMs, {number(4)});
    const std::uint32_t before = sender.window().cwnd;
    const Ack ack = sender.on_ack(201 * kMs, {number(4), nullptr, false, true});
    EXPECT_TRUE(ack.reduced);
    EXPECT_EQ(ack.progress, Progress::dupack);
    EXPECT_LT(sender.window().cwnd, before);
    EXPECT_FALSE(sender.on_ack(202 * kMs, {number(4), nullptr, false, true}).reduced)
        << "once a window";
}

TEST(Sender, CountsMarkedSegmentsBeyondTheRangeOfTheirCounter) {
    EcnSender ecn;
    ecn.note_count(30000);
    ecn.note_count(60000);
    EXPECT_EQ(ecn.take_marked(), 60000u);
    ecn.note_count(10);
    ecn.note_count(60000);  // an older ACK's
    ecn.note_count(0);      // an ACK without a count
    ecn.note_count(11);
    EXPECT_EQ(ecn.take_marked(), 65536u + 11 - 60000);
    EXPECT_EQ(ecn.take_marked(), 0u);
}

void expect_wait_after_mark(ww_protocol protocol, std::uint8_t floor) {
    Flow flow = with_sack();
    flow.ecn = true;
    flow.initial_cwnd = 1;
    flow.cc = ww_configure(protocol);
    flow.cc.min_marked_cwnd = floor;
    Sender sender = connected(flow, 100 * kMs);
    ASSERT_EQ(sent_by(sender, 100 * kMs).size(), 1u);
    const Ack ack = sender.on_ack(200 * kMs, {sender.segments().number(1), nullptr, false, true});
    EXPECT_TRUE(ack.reduced);
    if (floor == 2) {
        EXPECT_FALSE(sent_by(sender, 200 * kMs).empty()) << "as in Linux";
        return;
    }
    EXPECT_EQ(sender.window().cwnd, 1u);
    EXPECT_TRUE(sent_by(sender, 200 * kMs).empty());
    const Time due = sender.timer.deadline;
    EXPECT_EQ(due, 200 * kMs + sender.rtt().rto());
    EXPECT_EQ(sender.on_timer(due), Due::segment);
    EXPECT_EQ(sent_by(sender, due).size(), 1u);
    EXPECT_EQ(sender.phase(), WW_OPEN) << "it is no timeout";
}

// RFC 3168, 6.1.2: below a window of one segment the retransmission timer paces.
TEST(Sender, AMarkAtAWindowOfOneSegmentWaitsForTheTimer) {
    for (const ww_protocol protocol :
         {WW_PROTOCOL_SACK, WW_PROTOCOL_WESTWOOD, WW_PROTOCOL_WESTWOOD_PLUS, WW_PROTOCOL_CUBIC}) {
        SCOPED_TRACE(protocol);
        expect_wait_after_mark(protocol, 1);
        expect_wait_after_mark(protocol, 2);
    }
}

// RFC 4015, 3: an undo restores the windows from before the spurious reduction, but does not cancel
// a later one for a mark.
TEST(Sender, ALateDSackDoesNotUndoTheAnswerToAMark) {
    for (const bool marked : {false, true}) {
        Flow flow;
        flow.cc = ww_configure(WW_PROTOCOL_SACK);
        flow.recovery = Recovery::sack;
        flow.undo = true;
        Sender sender = connected(flow, 100 * kMs);
        const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
        while (sender.next_segment(100 * kMs) >= 0) continue;
        const SackBlocks late{1, {{number(1), number(10)}}};  // the first one comes last
        sender.on_ack(200 * kMs, {number(0), &late});
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        while (sender.next_segment(200 * kMs) >= 0) continue;
        sender.on_ack(210 * kMs, {number(10)});
        ASSERT_EQ(sender.phase(), WW_OPEN);
        while (sender.next_segment(210 * kMs) >= 0) continue;
        const std::int64_t acked = sender.una() + sender.in_flight();
        if (marked) {
            ASSERT_TRUE(sender.on_ack(300 * kMs, {number(acked), nullptr, false, true}).reduced);
        }
        const std::uint32_t reduced = sender.window().ssthresh;
        const SackBlocks twice{1, {{number(0), number(1)}}};
        const Ack ack = sender.on_ack(301 * kMs, {number(sender.una()), &twice});
        EXPECT_EQ(ack.undone, !marked);
        EXPECT_EQ(sender.window().ssthresh == reduced, marked);
    }
}

// What arrives after the ACK of all data, here at 300 ms, changes neither the windows nor the counts.
TEST(Sender, NothingActsOnAFinishedTransfer) {
    Flow flow = with_sack();
    flow.ecn = flow.undo = true;
    flow.initial_cwnd = 10;
    flow.size_bytes = 12 * flow.mss();
    const auto finished = [&] {
        Sender sender = connected(flow, 100 * kMs);
        sent_by(sender, 100 * kMs);
        const auto number = [&](std::int64_t segment) { return sender.segments().number(segment); };
        const SackBlocks late{1, {{number(1), number(10)}}};  // the first one comes last
        sender.on_ack(200 * kMs, {number(0), &late});
        sent_by(sender, 200 * kMs);
        sender.on_ack(300 * kMs, {number(12)});
        return sender;
    };
    const auto counts = [](Sender& sender) {
        FlowCounts counters{};
        sender.finish(kSecond, counters);
        return counters;
    };
    Sender silent = finished();
    const std::uint32_t first = silent.segments().number(0), end = silent.segments().number(12);
    const FlowCounts expected = counts(silent);
    ASSERT_EQ(expected.completed_s, 0.3);
    ASSERT_EQ(expected.fast_recoveries, 1u);
    const SackBlocks twice{1, {{first, first + flow.mss()}}};
    for (const AckHeader& header :
         {AckHeader{end, nullptr, false, true}, {first, nullptr, false, true}, {end, &twice}}) {
        Sender sender = finished();
        const Ack ack = sender.on_ack(700 * kMs, header);
        EXPECT_FALSE(ack.reduced || ack.undone);
        EXPECT_EQ(sender.window().cwnd, silent.window().cwnd);
        EXPECT_EQ(sender.window().ssthresh, silent.window().ssthresh);
        EXPECT_EQ(sender.timer.deadline, kNever);
        const FlowCounts counters = counts(sender);
        EXPECT_EQ(counters.mean_cwnd, expected.mean_cwnd);
        EXPECT_EQ(counters.max_cwnd, expected.max_cwnd);
        EXPECT_EQ(counters.ecn_reductions, 0u);
    }
}

}  // namespace
}  // namespace ww::sim::test
