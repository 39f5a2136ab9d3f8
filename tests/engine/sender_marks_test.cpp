// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the sender directly: what it does on congestion marks.
#include "connected.hpp"

namespace ww::sim::test {
namespace {

const Told kMarked{.marked = true};

// RFC 3168, 6.1.2: an echo on a duplicate ACK counts, too.
TEST(Sender, AnswersAnEchoOnADuplicate) {
    Flow flow;
    flow.ecn = true;
    Connected sender(flow);
    sender.sends(100);
    sender.ack(200, 4);
    const std::uint32_t before = sender.window().cwnd;
    const Ack ack = sender.ack(201, 4, kMarked);
    EXPECT_TRUE(ack.reduced);
    EXPECT_EQ(ack.progress, Progress::dupack);
    EXPECT_LT(sender.window().cwnd, before);
    EXPECT_FALSE(sender.ack(202, 4, kMarked).reduced) << "once a window";
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

// RFC 3168, 6.1.2: below a window of one segment the retransmission timer paces.
TEST(Sender, AMarkAtAWindowOfOneSegmentWaitsForTheTimer) {
    for (const ww_protocol protocol :
         {WW_PROTOCOL_SACK, WW_PROTOCOL_WESTWOOD, WW_PROTOCOL_WESTWOOD_PLUS, WW_PROTOCOL_CUBIC})
        for (const std::uint8_t floor : {std::uint8_t{1}, std::uint8_t{2}}) {
            SCOPED_TRACE(protocol);
            Flow flow = with_sack();
            flow.ecn = true;
            flow.initial_cwnd = 1;
            flow.cc = ww_configure(protocol);
            flow.cc.min_marked_cwnd = floor;
            Connected sender(flow);
            ASSERT_EQ(sender.sends(100).size(), 1u);
            EXPECT_TRUE(sender.ack(200, 1, kMarked).reduced);
            EXPECT_EQ(sender.sends(200).empty(), floor == 1) << "Linux's floor is two";
            if (floor == 2) continue;
            EXPECT_EQ(sender.window().cwnd, 1u);
            const Time due = sender.deadline();
            EXPECT_EQ(due, 200 * kMs + sender.rtt().rto());
            EXPECT_EQ(sender.on_timer(due), Due::segment);
            EXPECT_EQ(sender.sends_at(due).size(), 1u);
            EXPECT_EQ(sender.phase(), WW_OPEN) << "it is no timeout";
        }
}

// RFC 4015, 3: an undo restores the windows, but does not cancel a later reduction for a mark.
TEST(Sender, ALateDSackDoesNotUndoTheAnswerToAMark) {
    for (const bool marked : {false, true}) {
        Flow flow = with_sack();
        flow.undo = true;
        Connected sender(flow);
        sender.sends(100);
        sender.ack(200, 0, {.sacked = {{1, 10}}});  // the first one comes last
        ASSERT_EQ(sender.phase(), WW_RECOVERY);
        sender.sends(200);
        sender.ack(210, 10);
        ASSERT_EQ(sender.phase(), WW_OPEN);
        sender.sends(210);
        if (marked) {
            ASSERT_TRUE(sender.ack(300, sender.una() + sender.in_flight(), kMarked).reduced);
        }
        const std::uint32_t reduced = sender.window().ssthresh;
        EXPECT_EQ(sender.ack(301, sender.una(), {.sacked = {{0, 1}}}).undone, !marked);
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
        Connected sender(flow);
        sender.sends(100);
        sender.ack(200, 0, {.sacked = {{1, 10}}});  // the first one comes last
        sender.sends(200);
        sender.ack(300, 12);
        return sender;
    };
    const auto counts = [](Sender& sender) {
        FlowCounts counters{};
        sender.finish(kSecond, counters);
        return counters;
    };
    Connected silent = finished();
    const FlowCounts expected = counts(silent);
    ASSERT_EQ(expected.completed_s, 0.3);
    ASSERT_EQ(expected.fast_recoveries, 1u);
    for (const auto& [segment, told] :
         {std::pair{12, kMarked}, {0, kMarked}, {12, Told{.sacked = {{0, 1}}}}}) {
        Connected sender = finished();
        const Ack ack = sender.ack(700, segment, told);
        EXPECT_FALSE(ack.reduced || ack.undone);
        EXPECT_EQ(sender.window().cwnd, silent.window().cwnd);
        EXPECT_EQ(sender.window().ssthresh, silent.window().ssthresh);
        EXPECT_EQ(sender.deadline(), kNever);
        const FlowCounts counters = counts(sender);
        EXPECT_EQ(counters.mean_cwnd, expected.mean_cwnd);
        EXPECT_EQ(counters.max_cwnd, expected.max_cwnd);
        EXPECT_EQ(counters.ecn_reductions, 0u);
    }
}

}  // namespace
}  // namespace ww::sim::test
